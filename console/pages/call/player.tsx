/**
 * The recording of a call: its waveform with both sides, turns below it, speed and silence. What is played tells the
 * transcript, and the transcript what to play (`use-sound.ts`).
 */
import { useMemo } from 'preact/hooks';
import type { Turn } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Notice } from '../../ui/notice.tsx';
import { clockWords } from '../../ui/time.tsx';
import { areaOf } from './peaks.ts';
import type { Sound } from './use-sound.ts';

const SPEEDS = [0.75, 1, 1.25, 1.5, 2];

export function Player({ sound, turns }: { sound: Sound; turns: readonly Turn[] }) {
  const { peaks, durationSeconds, atSeconds, isPlaying } = sound;
  const areas = useMemo(() => (peaks === null ? null : [areaOf(peaks.caller, 1), areaOf(peaks.agent, -1)]), [peaks]);
  const bins = peaks?.caller.length ?? 1;
  const played = durationSeconds === 0 ? 0 : (100 * atSeconds) / durationSeconds;
  const clock = `${clockWords(atSeconds)} / ${clockWords(durationSeconds)}`;
  const inPercent = (ms: number): string =>
    `${Math.min(100, Math.max(0, durationSeconds === 0 ? 0 : ms / 10 / durationSeconds))}%`;
  return (
    <section class="player" aria-label={words.recording}>
      <div class="wave">
        {areas === null ? (
          <div class="wave-wait" />
        ) : (
          ['under', 'over'].map((layer) => (
            <svg
              key={layer}
              class={layer}
              viewBox={`0 0 ${bins - 1} 100`}
              preserveAspectRatio="none"
              style={layer === 'over' ? { clipPath: `inset(0 ${100 - played}% 0 0)` } : {}}
              aria-hidden="true"
            >
              <path class="caller" d={areas[0]} />
              <path class="agent" d={areas[1]} />
            </svg>
          ))
        )}
        <div class="needle" style={{ left: `${played}%` }} />
        <input
          type="range"
          min={0}
          max={durationSeconds}
          step={0.1}
          value={atSeconds}
          aria-label={words.position}
          aria-valuetext={clock}
          onInput={(event) => sound.seek(Number(event.currentTarget.value))}
        />
      </div>
      <div class="lanes" aria-hidden="true">
        {turns.map((turn) => (
          <span
            key={`${turn.turnId}-${turn.startMs}`}
            class={`${turn.role}${turn.interrupted ? ' cut' : ''}`}
            style={{ left: inPercent(turn.startMs), width: inPercent(Math.max(1, turn.endMs - turn.startMs)) }}
          />
        ))}
      </div>
      <div class="controls">
        <Button
          kind="main"
          icon={isPlaying ? 'pause' : 'play'}
          label={isPlaying ? words.pause : words.play}
          onPress={sound.toggle}
        />
        <span class="clock">{clock}</span>
        <span class="grow" />
        <Button kind="quiet" isPressed={sound.skipsSilence} isDisabled={peaks === null} onPress={sound.toggleSilence}>
          {words.silence}
        </Button>
        <select
          aria-label={words.speed}
          value={String(sound.speed)}
          onChange={(event) => sound.setSpeed(Number(event.currentTarget.value))}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)} selected={speed === sound.speed}>
              {speed}×
            </option>
          ))}
        </select>
        <a class="button quiet bare" href={sound.url} download="" aria-label={words.download} title={words.download}>
          <Icon name="download" />
        </a>
      </div>
      {sound.fault === null ? null : <Notice kind="error">{sound.fault}</Notice>}
    </section>
  );
}
