/** The counter of a limit when it moves from one member to another. */

import { expect, it } from 'vitest'

import { counterRules, limitActorKey, limitKind } from '../../../src/limits/index.ts'
import type { LimitAdmit, LimitTable } from '../../../src/limits/index.ts'
import { virtualEnv } from '../../support/env.ts'

const rule = { name: 'deletion', count: 1, intervalMs: 60_000, durable: true }
const question = { waiting: 1, perSecond: 0, ended: [], spent: 0 }

it('A counter is released only once the next one can read what it admitted.', async () => {
  const rows: LimitAdmit[] = []
  const disk = Promise.withResolvers<void>()
  const kind = limitKind({
    env: virtualEnv(),
    ruleOf: counterRules([rule]),
    askDoors: async () => [],
    table: {
      append: async (_: unknown, row: LimitAdmit) => {
        await disk.promise
        rows.push(row)
      },
      since: async () => [...rows],
    } as unknown as LimitTable,
  })
  const counter = async () => {
    const actor = kind.create({ key: limitActorKey({ row: rule.name, who: 'me' }), epoch: 1,
      notify: () => {}, sleep: () => {}, fail: () => {} })
    await actor.activate()
    return actor
  }
  const first = await counter()
  const { reply } = await first.receive(question)
  const gone = first.passivate(new AbortController().signal).then(() => rows.length)
  await new Promise((settled) => setImmediate(settled))
  disk.resolve()
  expect(await gone).toBe(1)
  expect(await reply).toMatchObject({ admitted: 1 })
  const { reply: next } = await (await counter()).receive(question)
  expect(await next).toMatchObject({ admitted: 0 })
})
