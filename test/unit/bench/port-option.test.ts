/** What `--port` of an emulator takes, and what is said where somebody else has it. */
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listenFault, portFault } from '../../../bench/harness/port-option.ts';

it.each(['abc', '', '-1', '65536', '4e3', '80.5'])('refuses %j', (given) => {
  expect(portFault(given)).toBe(`--port takes a port from 0 to 65535 (0 takes a free one), not '${given}'`);
});

it('takes a port, and 0', () => {
  expect(['0', '4010', '65535'].map(portFault)).toEqual([null, null, null]);
});

it('names a port that is taken, with the way out', async () => {
  const first = createServer();
  await new Promise<void>((done) => first.listen(0, '127.0.0.1', done));
  const { port } = first.address() as AddressInfo;
  const error = await new Promise((done) => createServer().once('error', done).listen(port, '127.0.0.1'));
  first.close();
  expect(listenFault(error)).toMatch(
    new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is taken by another process\\. .* give --port .* another`),
  );
  expect(listenFault(new Error('something else'))).toBeNull();
});
