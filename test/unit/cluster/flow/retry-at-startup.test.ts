/** A start that waits for the store, but not for ever, and not if waiting cannot help. */

import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { retryAtStartup } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ErrorCode } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'

/** A store that fails `failures` times and then answers; `asked` counts. */
function store(failures: number, code: ErrorCode) {
  let asked = 0
  return {
    get asked() {
      return asked
    },
    ask: async () => {
      asked += 1
      if (asked <= failures) throw new HeddleError(code)
      return 'the answer'
    },
  }
}

describe('the first answer', () => {
  it('is waited for while the store is unavailable, with one line in the log', async () => {
    const env = virtualEnv()
    const { ask } = store(3, 'unavailable')
    let answer: string | undefined
    void retryAtStartup(env, ask).then((found) => {
      answer = found
    })
    for (let tries = 1; tries < 4; tries++) {
      await turn()
      expect(answer).toBeUndefined()
      env.advance(1_000)
    }
    await turn()
    expect(answer).toBe('the answer')
    expect(env.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'The store does not answer yet: this member waits for it.'],
    ])
  })

  it('is given up after half a minute', async () => {
    const env = virtualEnv()
    let thrown: unknown
    retryAtStartup(env, store(Infinity, 'unavailable').ask).catch((error) => {
      thrown = error
    })
    for (let s = 0; s < 30; s++) {
      await turn()
      expect(thrown).toBeUndefined()
      env.advance(1_000)
    }
    await turn()
    env.advance(1_000)
    await turn()
    expect(thrown).toMatchObject({ code: 'unavailable' })
    expect(env.timers()).toBe(0)
  })

  it('is not asked for again if it was refused for good', async () => {
    const refusing = store(1, 'forbidden')
    await expect(retryAtStartup(virtualEnv(), refusing.ask)).rejects
      .toMatchObject({ code: 'forbidden' })
    expect(refusing.asked).toBe(1)
  })
})
