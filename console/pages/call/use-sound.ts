/**
 * One recording, played by the browser. Its place is read at each frame while it plays, so that the transcript keeps
 * step with the ear.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SoundPeaks } from '../../api/overview.ts';
import { consoleFetch } from '../../api/request.ts';
import { wordsOf } from '../../ui/error-words.ts';
import { type Peaks, peaksOf, silencesOf } from './peaks.ts';

export interface Sound {
  url: string;
  peaks: Peaks | null;
  durationSeconds: number;
  atSeconds: number;
  isPlaying: boolean;
  speed: number;
  skipsSilence: boolean;
  fault: string | null;
  toggle(): void;
  toggleSilence(): void;
  seek(seconds: number): void;
  /** Plays from there. */
  playFrom(seconds: number): void;
  setSpeed(speed: number): void;
}

/** `address`: of the recording, null while there is none. */
export function useSound(
  address: string | null,
  toldSeconds: number,
  readPeaks: (signal: AbortSignal) => Promise<SoundPeaks>,
): Sound | null {
  const audio = useMemo(() => (address === null ? null : new Audio()), [address]);
  const [peaks, setPeaks] = useState<Peaks | null>(null);
  const [atSeconds, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [skipsSilence, setSkips] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const silences = useMemo(() => (peaks === null ? [] : silencesOf(peaks)), [peaks]);
  const skipped = useRef<[number, number][]>([]);
  skipped.current = skipsSilence ? silences : [];

  const latest = useRef(readPeaks);
  latest.current = readPeaks;
  useEffect(() => {
    if (audio === null || address === null) return;
    const gone = new AbortController();
    let url: string | null = null;
    let frame = 0;
    // Fetched once: what is drawn and what is played are the same bytes, and going back and forth asks nobody.
    const fetched = async (): Promise<void> => {
      const response = await consoleFetch(address, { signal: gone.signal });
      if (!response.ok) throw new Error(`${response.status}`);
      const bytes = await response.arrayBuffer();
      url = URL.createObjectURL(new Blob([bytes], { type: response.headers.get('content-type') ?? 'audio/ogg' }));
      if (gone.signal.aborted) return URL.revokeObjectURL(url);
      audio.src = url;
    };
    // A player without its outline plays all the same.
    latest.current(gone.signal).then(
      (found) => !gone.signal.aborted && setPeaks(peaksOf(found)),
      () => {},
    );
    fetched().catch((error: unknown) => !gone.signal.aborted && setFault(wordsOf(error).title));
    const follow = (): void => {
      const now = audio.currentTime;
      const silence = skipped.current.find(([from, to]) => now > from && now < to);
      if (silence !== undefined) audio.currentTime = silence[1];
      setAt(audio.currentTime);
      frame = requestAnimationFrame(follow);
    };
    const stop = (): void => {
      cancelAnimationFrame(frame);
      setPlaying(false);
      setAt(audio.currentTime);
    };
    audio.addEventListener('play', () => {
      setPlaying(true);
      follow();
    });
    audio.addEventListener('pause', stop);
    audio.addEventListener('ended', stop);
    audio.addEventListener('seeked', () => setAt(audio.currentTime));
    return () => {
      gone.abort();
      cancelAnimationFrame(frame);
      audio.pause();
      audio.removeAttribute('src');
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [audio, address]);

  useEffect(() => {
    if (audio !== null) audio.playbackRate = speed;
  }, [audio, speed]);

  const seek = useCallback(
    (seconds: number) => {
      if (audio === null) return;
      audio.currentTime = seconds;
      setAt(seconds);
    },
    [audio],
  );
  const play = useCallback(() => {
    audio?.play().catch((error: unknown) => setFault(wordsOf(error).title));
  }, [audio]);
  if (audio === null || address === null) return null;
  return {
    url: address,
    peaks,
    durationSeconds: peaks?.durationSeconds ?? toldSeconds,
    atSeconds,
    isPlaying,
    speed,
    skipsSilence,
    fault,
    toggle: () => (audio.paused ? play() : audio.pause()),
    toggleSilence: () => setSkips(!skipsSilence),
    seek,
    playFrom(seconds) {
      seek(seconds);
      play();
    },
    setSpeed,
  };
}
