/**
 * Loaded by `--import` into a process under test before Parley (`slow-database.ts` sets that up): while a file is
 * there, whatever its driver sends to PostgreSQL goes so much later, in its order, as to a server that takes so long
 * for each statement. Plain JavaScript, for the processes run from `dist/`.
 */
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

const { SLOW_DATABASE_WHILE, SLOW_DATABASE_MS } = process.env;
const LOOK_EVERY_MS = 100;

let lateMs = 0;
setInterval(() => {
  lateMs = existsSync(SLOW_DATABASE_WHILE) ? Number(SLOW_DATABASE_MS) : 0;
}, LOOK_EVERY_MS).unref();

const { connect } = pg.Connection.prototype;
pg.Connection.prototype.connect = function connectSlowly(...given) {
  connect.apply(this, given);
  const { stream } = this;
  const write = stream.write.bind(stream);
  let before = Promise.resolve();
  let underWay = 0;
  stream.write = (...given) => {
    if (lateMs === 0 && underWay === 0) return write(...given);
    underWay++;
    const due = wait(lateMs);
    before = before
      .then(() => due)
      .then(() => {
        underWay--;
        if (!stream.destroyed) write(...given);
      });
    return true;
  };
};
