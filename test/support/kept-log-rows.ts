/** Logs of real threads for the validation suite, one thread each, over any store. */

import { ByteBudget } from '../../cluster/index.ts'
import type { LogPort, RecordOf } from '../../src/checkpoint/index.ts'
import type { ThreadIndex } from '../../src/search/index.ts'
import { executionSource } from '../../src/thread/log/execution-source.ts'
import { ThreadLog } from '../../src/thread/log/thread-log.ts'
import { virtualEnv } from './env.ts'
import type { SuiteLog } from './validated-saver.ts'

/** What the log of a thread needs of a store. */
export interface KeptLogRows {
  readonly log: LogPort
  readonly threads: ThreadIndex
}

/**
 * Makes logs. Each call gets a thread of its own, because the suite uses the same ids again and
 * again.
 */
export function keptLogs(open: () => Promise<KeptLogRows>): () => SuiteLog {
  const env = virtualEnv()
  let opened: Promise<KeptLogRows> | undefined
  let threads = 0
  return () => {
    opened ??= open()
    const threadId = `thread ${++threads}`
    const history = opened.then(({ log, threads: index }) =>
      ThreadLog.load({
        ports: { log, threads: index, views: new ByteBudget(1e6) },
        tenant: 't',
        threadId,
        epoch: 1,
        after: env.after,
        onLost: (reason) => {
          throw reason
        },
      })
    )
    const source = history.then((open) => executionSource(open))
    return {
      source: {
        tuple: async (ns, id) => (await source).tuple(ns, id),
        list: async (query) => (await source).list(query),
      },
      append: async (steps) => {
        const made = await history
        await made.ready(steps)
        await made.write(steps as readonly RecordOf[])
      },
    }
  }
}
