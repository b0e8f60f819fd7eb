import { afterEach, expect, test } from 'vitest';
import { type DeepgramBenchOptions, deepgramBench } from './deepgram-bench.ts';

type Bench = Awaited<ReturnType<typeof deepgramBench>>;
let bench: Bench | undefined;
afterEach(() => bench?.provider.close());

async function started(options: DeepgramBenchOptions = {}) {
  bench = await deepgramBench('deepgram-flux', options);
  const b = await bench.newEar();
  await b.silence(400);
  return { ...bench, b };
}
const LOST = { kind: 'failed', reason: 'it was reset', isTimeout: false } as const;

test('turns are its own: it says that they begin, that their end is likely, that it was none, and that they end', async () => {
  const { b } = await started();
  const fromMs = b.atMs;
  await b.say('yes');
  await b.silence(200);
  expect(b.began).toHaveLength(1);
  expect(Math.abs(b.began[0]! - fromMs)).toBeLessThanOrEqual(60);
  b.order((ear) => ear.turnBegan(1, b.began[0]!));
  await b.silence(300);
  const eager = await b.until('the likely end', () => b.words.find(({ concluded }) => concluded === true));
  expect(eager).toMatchObject({ turn: 1, text: 'yes', final: false });
  const told = b.words.length;
  await b.say('please');
  await b.silence(200);
  expect(b.words.slice(told).at(-1)).toMatchObject({ text: 'yes please', final: false });
  expect(b.words.slice(told).every(({ concluded }) => concluded === undefined)).toBe(true);
  await b.silence(1_000);
  expect(b.finals).toMatchObject([{ turn: 1, text: 'yes please', final: true }]);
  // Its end is what it said was likely.
  expect(b.words.at(-2)).toMatchObject({ text: 'yes please', concluded: true });
});

test('a turn that ended before the call knew of it is told whole when the call begins it', async () => {
  const { b } = await started();
  await b.say('yes');
  await b.silence(1_000);
  expect(b.words).toEqual([]);
  b.order((ear) => ear.turnBegan(1, b.began[0]!));
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: 'yes' });
});

test('where the call ends a turn first, Flux is made to end it, and its words are told once', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  await b.silence(100);
  b.order((ear) => ear.turnOver());
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ text: 'yes please' });
  expect(fake.last.told).toEqual([{ type: 'ForceEndTurn' }]);
  await b.silence(1_500);
  expect(b.finals).toHaveLength(1);
  expect(b.began).toEqual([]);
});

test('words that come after the call has given their turn up are a turn of their own', async () => {
  const { b, fake } = await started();
  fake.latencyMs = 1_500;
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('no');
  await b.silence(400);
  b.order((ear) => ear.turnOver());
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: '', isLate: true });
  const onsetMs = await b.until('the late words', () => b.began[0]);
  b.order((ear) => ear.turnBegan(2, onsetMs));
  await b.silence(2_500);
  expect(b.finals[1]).toMatchObject({ turn: 2, text: 'no' });
});

test('a loss for good is told at once', async () => {
  const { b, fake } = await started();
  fake.last.end({ kind: 'closed', code: 1008, reason: 'Gone.' });
  await b.silence(40);
  expect(b.deafened).toEqual(['Deepgram closed the connection (1008, Gone.)']);
});

test('words of a turn that was dropped are nobody’s, also when Flux goes on with it', async () => {
  const { b } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  b.order((ear) => ear.turnDropped());
  await b.say('no');
  await b.silence(1_200);
  expect(b.words.filter(({ final }) => final)).toEqual([]);
  b.order((ear) => ear.turnBegan(2, b.began.at(-1)!));
  expect((await b.until('the final', () => b.finals[0])).text).toBe('no');
});

test('a turn that begins takes nothing of the one before, which Flux has not ended', async () => {
  const { b } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes');
  b.order((ear) => ear.turnBegan(2, b.atMs));
  await b.say('no');
  await b.silence(1_200);
  expect(b.finals).toMatchObject([{ turn: 2, text: 'no' }]);
});

test('a socket lost in mid-turn: the turn is heard whole by the next, and the silence before it is not sent again', async () => {
  const { b, fake } = await started();
  await b.silence(6_000);
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  fake.last.end(LOST);
  await b.silence(1_200);
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ text: 'yes please' });
  expect(fake.sockets).toHaveLength(2);
});

test('sound that stops in mid-turn is followed by silence of ours, so that the turn ends', async () => {
  const { b, wait } = await started();
  await b.say('yes');
  await b.silence(200);
  b.order((ear) => ear.turnBegan(1, b.began[0]!));
  await wait(2_500);
  expect(b.finals).toMatchObject([{ text: 'yes' }]);
  const fromMs = b.atMs;
  // What comes then is at its own time.
  const final = await b.turn(2, 'no');
  expect(Math.abs(final.words![0]!.startMs - fromMs)).toBeLessThanOrEqual(60);
});

test('what is expected is told at once', async () => {
  const { b, fake } = await started({ settings: { keyterms: ['Parley'] } });
  expect(fake.last.url.searchParams.getAll('keyterm')).toEqual(['Parley']);
  b.order((ear) => ear.hint({ phrases: ['monday', '<digits>'], isOpen: true }));
  b.order((ear) => ear.hint({ phrases: ['monday', '<digits>'], isOpen: true }));
  await b.silence(100);
  expect(fake.last.told).toEqual([{ type: 'Configure', keyterms: ['Parley', 'monday'] }]);
});

test.each([
  ['INTERNAL_SERVER_ERROR', 2],
  ['UNPARSABLE_CLIENT_MESSAGE', 1],
])('an error %s means %i sockets', async (code, sockets) => {
  const { b, fake } = await started();
  fake.last.raw(JSON.stringify({ type: 'Error', code, description: 'x' }));
  await b.silence(500);
  expect(fake.sockets).toHaveLength(sockets);
});
