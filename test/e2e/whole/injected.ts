/** Messages for a run of the bakery that executes, each sent through another door. */

import { expect } from 'vitest'

import { say, texts } from '../../support/run-events.ts'
import type { Gate } from '../../support/gate.ts'
import type { Bakery } from './bakery.ts'
import { threadOf } from './rights.ts'

/** Sends a command of protocol v2 to a thread. */
export async function command(bakery: Bakery, door: number, threadId: string, method: string,
  params: object, user = 'alice'): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await bakery.ask(door, user, { method: 'POST',
    path: `/threads/${threadId}/commands`, body: { id: 1, method, params } })
  return json as Readonly<Record<string, unknown>>
}

/** Begins a run that waits at the gate. Resolves with its thread. */
export async function beginHeld(bakery: Bakery, door: number, gate: Gate): Promise<string> {
  const threadId = await threadOf(bakery, door, 'alice')
  expect(
    await command(bakery, door, threadId, 'run.start', { assistant_id: 'bakery',
      input: say(`hold ${gate.url}`) }),
  ).toMatchObject({ type: 'success' })
  await gate.arrived()
  return threadId
}

/** Gives the run of a thread a message. Resolves when that is acknowledged. */
export async function inject(bakery: Bakery, door: number, threadId: string,
  content: string): Promise<void> {
  expect(await command(bakery, door, threadId, 'input.inject', {
    namespace: [],
    message: { role: 'user', content },
  })).toMatchObject({ type: 'success' })
}

/** Resolves when no run of the thread goes on. Then these were taken, each once and in order. */
export async function expectTaken(bakery: Bakery, threadId: string,
  contents: readonly string[]): Promise<void> {
  await expect.poll(async () => {
    const { status } = await bakery.get<{ status: string }>(0, 'alice', { method: 'GET',
      path: `/threads/${threadId}` })
    return status
  }).toBe('idle')
  const state = await bakery.everywhere('alice', { method: 'GET',
    path: `/threads/${threadId}/state` })
  const { values } = state.json as { readonly values: unknown }
  expect(texts(values).filter((text) => contents.includes(text))).toEqual(contents)
  expect(texts(values).at(-1)).toContain(`, ${contents.join(', ')}.`)
}

/** Messages through each door reach the run in the order in which they were acknowledged. */
export async function takesMessages(bakery: Bakery, gate: Gate): Promise<void> {
  const threadId = await beginHeld(bakery, 0, gate)
  const contents = bakery.doors.map((_, door) => `also ${door}`)
  for (const [door, content] of contents.entries()) await inject(bakery, door, threadId, content)
  expect(await command(bakery, 0, threadId, 'input.inject', {
    message: { role: 'user', content: 'of bob' },
  }, 'bob')).not.toMatchObject({ type: 'success' })
  gate.open()
  await expectTaken(bakery, threadId, contents)
}
