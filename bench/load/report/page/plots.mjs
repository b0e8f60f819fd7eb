/**
 * In the reader's browser: draws the plots of the report with uPlot, tells what lies under the pointer or the arrow
 * keys, and moves the playhead of a call. Lies in the report as it is, as a plain script. Colours come from the style
 * sheet, so plots follow light and dark, and turn light for paper.
 */
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const root = document.documentElement;
  const numbers = (digits) => new Intl.NumberFormat('en-US', { maximumFractionDigits: digits });
  const whole = numbers(0);
  const fine = numbers(2);
  const finest = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });
  const number = (value) => (Math.abs(value) >= 10 ? whole : Math.abs(value) >= 0.1 ? fine : finest).format(value);
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  const figure = (kind, value) => {
    if (value === null || value === undefined) return '–';
    if (kind === 'time') return `${Math.abs(value) < 20 ? numbers(1).format(value) : whole.format(value)} ms`;
    if (kind === 'share') return `${number(value * 100)} %`;
    return number(value);
  };

  const clock = (seconds) => {
    const at = Math.max(0, Math.round(seconds));
    const tail = `${String(Math.floor(at / 60) % 60).padStart(at >= 3600 ? 2 : 1, '0')}:${String(at % 60).padStart(2, '0')}`;
    return at >= 3600 ? `${Math.floor(at / 3600)}:${tail}` : tail;
  };
  const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];

  const percent = (nines) => 100 - 100 * 10 ** -nines;
  const percentText = (nines) => `${Number(percent(nines).toFixed(Math.max(1, Math.ceil(nines - 1))))} %`;
  const NINES = [0, Math.log10(2), 1, 2, 3, 4, 5, 6];

  const KINDS = {
    clock: {
      text: clock,
      splits: (min, max, most) => splitsBy(CLOCK_STEPS.find((step) => (max - min) / step <= most) ?? 28800, min, max),
    },
    ms: { text: (value) => number(value), title: 'ms' },
    load: { text: (value) => number(value) },
    percent: {
      text: percentText,
      splits: (min, max, most) =>
        apart(
          NINES.filter((at) => at <= max + 0.01),
          (max - min) / (1.6 * most),
        ),
    },
  };

  /** From the end on, so that the tail keeps its marks. */
  function apart(splits, least) {
    const kept = [];
    for (const at of splits.toReversed()) if (kept.length === 0 || kept.at(-1) - at >= least) kept.push(at);
    return kept.reverse();
  }

  function splitsBy(step, min, max) {
    const splits = [];
    for (let at = Math.ceil(min / step) * step; at <= max; at += step) splits.push(at);
    return splits;
  }

  const told = (chart, at) => {
    const x = chart.x.values[at];
    const where = {
      clock: () => clock(x),
      ms: () => {
        const half = (chart.x.max - chart.x.values.at(-1)) * (chart.x.isWhole ? 0.999 : 1);
        const [least, most] = chart.x.isWhole ? [Math.ceil(x - half), Math.floor(x + half)] : [x - half, x + half];
        return least === most ? `${least} ms` : `${number(least)} to ${number(most)} ms`;
      },
      load: () => `${number(x)} ${chart.x.name}`,
      percent: () => percentText(x),
    }[chart.x.kind]();
    const values = chart.series.flatMap(({ name, kind, values }) =>
      values[at] === null || values[at] === undefined ? [] : [`${name} ${figure(kind, values[at])}`],
    );
    const flags = (chart.flags ?? []).filter((one) => one.at.includes(x)).map(({ name }) => name);
    return `${where}: ${[...values, ...flags].join(', ') || 'nothing'}`;
  };

  const font = '12px system-ui, -apple-system, "Segoe UI", sans-serif';

  /** On a phone the plot needs the room: no names beside it, smaller numbers. */
  const isNarrow = (width) => width < 480;

  function axis(scale, side, title, kind, colours, extra = {}) {
    const { isBare = false, ...more } = extra;
    return {
      scale,
      side,
      stroke: colours.soft,
      font,
      labelFont: font,
      grid: { show: side !== 1, stroke: colours.line, width: 1 },
      ticks: { show: false },
      size: side === 2 ? 28 : isBare ? 42 : 56,
      gap: 6,
      ...(side === 2 || isBare ? {} : { label: title, labelSize: 16, labelGap: 0 }),
      values: (_, splits) => splits.map((value) => (value === null ? '' : kind(value))),
      ...more,
    };
  }

  function seriesOf(one, colours) {
    const colour = colours[one.colour];
    const base = {
      label: one.name,
      scale: one.isRight ? 'right' : 'y',
      stroke: colour,
      width: 2,
      dash: one.dash?.length ? one.dash : undefined,
      spanGaps: false,
      points: { show: false },
    };
    if (one.style === 'area') return { ...base, fill: `${colour}26` };
    if (one.style === 'bars') {
      return { ...base, width: 0, fill: `${colour}cc`, paths: uPlot.paths.bars({ size: [0.86, 60, 1], radius: 0.12 }) };
    }
    if (one.style === 'line') {
      const lonely = (u, series) => {
        // A value between two seconds that have none would not be seen as a line.
        const values = u.data[series];
        return !values
          ? null
          : values.flatMap((value, at) =>
              value != null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
            );
      };
      return { ...base, points: { show: true, size: 4, width: 0, fill: colour, filter: lonely } };
    }
    return { ...base, paths: () => null, points: { show: false } };
  }

  function draw(u, chart, colours) {
    const { ctx } = u;
    const { left, top, width, height } = u.bbox;
    const ratio = devicePixelRatio || 1;
    const at = (x) => u.valToPos(x, 'x', true);
    const within = (x) => x >= left - 1 && x <= left + width + 1;
    ctx.save();
    ctx.lineWidth = ratio;
    for (const { from, to } of chart.bands ?? []) {
      const [a, b] = [Math.max(left, at(from)), Math.min(left + width, at(to))];
      ctx.fillStyle = colours.band;
      if (b > a) ctx.fillRect(a, top, b - a, height);
    }
    for (const flags of chart.flags ?? []) {
      ctx.strokeStyle = ctx.fillStyle = colours[flags.colour];
      for (const x of flags.at.map(at).filter(within)) {
        ctx.globalAlpha = 0.35;
        line(ctx, x, top + 12 * ratio, x, top + height);
        ctx.globalAlpha = 1;
        symbol(ctx, flags.symbol, x, top + 6 * ratio, 5 * ratio);
      }
    }
    ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left';
    const under = chart.flags?.length ? 14 : 2;
    let lastEnd = Number.NEGATIVE_INFINITY;
    let row = 0;
    for (const one of [...(chart.lines ?? [])].sort((a, b) => a.at - b.at)) {
      const x = at(one.at);
      if (!within(x)) continue;
      ctx.strokeStyle = ctx.fillStyle = colours.ink;
      ctx.setLineDash(one.dash.map((length) => length * ratio));
      line(ctx, x, top, x, top + height);
      ctx.setLineDash([]);
      const size = ctx.measureText(one.text).width;
      const isLeft = x + size + 8 * ratio > left + width;
      const start = isLeft ? x - size - 5 * ratio : x + 5 * ratio;
      row = start < lastEnd ? row + 1 : 0;
      lastEnd = start + size + 4 * ratio;
      const y = top + (under + row * 15) * ratio;
      ctx.fillStyle = colours.face;
      ctx.fillRect(start - 2 * ratio, y - ratio, size + 4 * ratio, 14 * ratio);
      ctx.fillStyle = colours.ink;
      ctx.fillText(one.text, start, y);
    }
    for (const one of chart.series.filter(({ style }) => style === 'points')) {
      ctx.strokeStyle = ctx.fillStyle = colours[one.colour];
      ctx.lineWidth = 2 * ratio;
      for (const [index, value] of one.values.entries()) {
        if (value === null) continue;
        symbol(
          ctx,
          one.shape,
          at(chart.x.values[index]),
          u.valToPos(value, one.isRight ? 'right' : 'y', true),
          5 * ratio,
        );
      }
    }
    ctx.restore();
  }

  function line(ctx, x1, y1, x2, y2) {
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  }

  function symbol(ctx, shape, x, y, size) {
    ctx.beginPath();
    if (shape === 'cross') {
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
      ctx.stroke();
    } else if (shape === 'triangle') {
      ctx.moveTo(x, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.lineTo(x - size, y + size);
      ctx.fill();
    } else {
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  function coloursNow() {
    const named = Object.fromEntries(['ink', 'soft', 'line', 'face', 'band'].map((name) => [name, ink(`--${name}`)]));
    for (let at = 1; at <= 6; at++) named[at] = ink(`--c${at}`);
    return named;
  }

  function optionsOf(chart, width, colours) {
    const kind = KINDS[chart.x.kind];
    const room = chart.flags?.length ? 1.24 : 1.08;
    const top = (_, __, max) => [0, max > 0 ? max * room : 1];
    const isBare = isNarrow(width);
    const hasRight = chart.series.some(({ isRight }) => isRight);
    const first = chart.x.values[0] ?? 0;
    const from =
      chart.x.kind === 'ms'
        ? first - ((chart.x.values[1] ?? chart.x.max) - first) / 2
        : chart.x.kind === 'load'
          ? 0
          : first;
    const splits = kind.splits
      ? { splits: (_, __, min, max) => kind.splits(min, max, Math.max(2, Math.floor(width / 80))) }
      : {};
    const plain = (value) => number(value);
    return {
      width,
      height: chart.heightPx,
      padding: [8, hasRight ? 0 : chart.sync ? (isBare ? 42 : 72) : 24, 0, 0],
      legend: { show: false },
      cursor: {
        sync: chart.sync ? { key: chart.sync, setSeries: false } : undefined,
        drag: { x: chart.x.kind === 'clock', y: false },
        y: false,
        points: { size: 7, width: 2 },
      },
      scales: {
        x: {
          time: false,
          range: (_, min, max) =>
            min === first && max === chart.x.values.at(-1) ? [from, Math.max(chart.x.max, from + 1e-6)] : [min, max],
        },
        y: { range: top },
        ...(hasRight ? { right: { range: top } } : {}),
      },
      axes: [
        axis('x', 2, '', kind.text, colours, { ...splits, space: 64 }),
        axis('y', 3, chart.y.name, plain, colours, { space: 34, isBare }),
        ...(hasRight ? [axis('right', 1, chart.right.name, plain, colours, { space: 34, isBare })] : []),
      ],
      series: [{}, ...chart.series.map((one) => seriesOf(one, colours))],
      hooks: {
        draw: [(u) => draw(u, chart, colours)],
        setCursor: [
          (u) => {
            const at = u.cursor.idx;
            const readout = document.getElementById(`${chart.id}-readout`);
            readout.textContent = at === null || at === undefined || u.cursor.left < 0 ? '' : told(chart, at);
          },
        ],
      },
    };
  }

  const drawn = new Map();

  function show(chart, colours) {
    const place = document.getElementById(chart.id);
    const before = drawn.get(chart.id);
    before?.destroy();
    const data = [chart.x.values, ...chart.series.map(({ values }) => values)];
    drawn.set(chart.id, new uPlot(optionsOf(chart, place.clientWidth || 600, colours), data, place));
  }

  function showAll() {
    const colours = coloursNow();
    for (const chart of charts) show(chart, colours);
    root.dataset.drawn = String(charts.length);
  }

  function walk(chart, event) {
    const u = drawn.get(chart.id);
    const last = chart.x.values.length - 1;
    const at = u.cursor.idx ?? -1;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? last : step === undefined ? null : at + step;
    if (to === null) {
      if (event.key === 'Escape') u.setCursor({ left: -10, top: -10 });
      return;
    }
    event.preventDefault();
    const index = Math.min(last, Math.max(0, to));
    u.setCursor({ left: u.valToPos(chart.x.values[index], 'x'), top: 10 });
  }

  showAll();
  for (const chart of charts) {
    const place = document.getElementById(chart.id);
    place.addEventListener('keydown', (event) => walk(chart, event));
    place.addEventListener('blur', () => drawn.get(chart.id).setCursor({ left: -10, top: -10 }));
  }
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    showAll();
  }).observe(root);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showAll);
  addEventListener('beforeprint', () => {
    root.dataset.print = '';
    showAll();
  });
  addEventListener('afterprint', () => {
    delete root.dataset.print;
    showAll();
  });

  for (const picture of document.querySelectorAll('svg.wave')) {
    const sound = document.getElementById(picture.dataset.sound);
    if (sound === null) continue;
    const head = picture.querySelector('.playhead');
    const lengthSeconds = Number(picture.dataset.lengthMs) / 1000;
    const move = () => {
      const at = `${Math.min(100, (100 * sound.currentTime) / lengthSeconds)}%`;
      head.setAttribute('x1', at);
      head.setAttribute('x2', at);
      head.setAttribute('visibility', sound.currentTime > 0 ? 'visible' : 'hidden');
      if (!sound.paused) requestAnimationFrame(move);
    };
    for (const name of ['play', 'pause', 'seeked', 'ended', 'timeupdate']) sound.addEventListener(name, move);
    picture.addEventListener('click', (event) => {
      const { left, width: across } = picture.getBoundingClientRect();
      sound.currentTime = (lengthSeconds * (event.clientX - left)) / across;
    });
  }
  for (const button of document.querySelectorAll('[data-seek]')) {
    button.addEventListener('click', () => {
      const sound = document.getElementById(button.dataset.sound);
      for (const other of document.querySelectorAll('audio')) if (other !== sound) other.pause();
      sound.currentTime = Number(button.dataset.seek);
      sound.play().catch(() => {});
    });
  }
})();
