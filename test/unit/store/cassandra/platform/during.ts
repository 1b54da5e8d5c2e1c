/** Work that waits for a virtual clock. */

import type { VirtualEnv } from '../../../../support/env.ts'

/** Lets time pass until work that waits for it has ended. */
export async function during<Result>(env: VirtualEnv, work: Promise<Result>): Promise<Result> {
  const state = { isOver: false }
  const end = () => {
    state.isOver = true
  }
  work.then(end, end)
  while (!state.isOver) {
    env.advance(10)
    await new Promise((turn) => setImmediate(turn))
  }
  return await work
}
