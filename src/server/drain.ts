/** Lets an operator end a member from afar, as SIGTERM does on its machine. */

import type { Service } from '../../cluster/index.ts'
import { rawValues } from '../json/index.ts'

/** The service and its wire. */
export const drainWire = { name: 'drain', wire: { values: rawValues } } as const

/** Ends this process in order once it is asked. The answer comes before the end. */
export function drainService(end: () => void): Service<unknown, null> {
  return {
    ...drainWire,
    answer: async () => {
      setImmediate(end)
      return null
    },
  }
}

/** Ends the process as its operator would on its machine. */
export function endByOperator(): void {
  process.kill(process.pid, 'SIGTERM')
}
