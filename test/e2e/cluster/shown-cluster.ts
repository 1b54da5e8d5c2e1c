/** A cluster as its front doors show it. */

import { expect } from 'vitest'

import { ask } from '../../support/wire.ts'

interface ShownMember {
  readonly id: string
  readonly state: string
  /** Null if it did not answer. */
  readonly version: string | null
}

/** The members that a front door shows. */
export async function membersAt(url: string): Promise<readonly ShownMember[]> {
  const { status, body } = await ask(url, 'GET', '/cluster', undefined, { 'x-api-key': 'a test' })
  expect(status).toBe(200)
  return (body as { readonly members: readonly ShownMember[] }).members
}

/** What a front door says is left of a limit for a key. */
export async function leftOf(url: string, row: string, key: string): Promise<number | undefined> {
  const { body } = await ask(url, 'GET', '/limits', undefined, { 'x-api-key': key })
  const { rows } = body as {
    readonly rows: readonly { readonly id: string; readonly remaining: number }[]
  }
  return rows.find(({ id }) => id === row)?.remaining
}

/** Reads the stream of the cluster until it has a text. `opened` resolves with its first event. */
export function eventsUntil(url: string,
  end: RegExp): { readonly opened: Promise<void>; readonly text: Promise<string> } {
  const opened = Promise.withResolvers<void>()
  const read = async () => {
    const { body } = await fetch(`${url}/cluster/stream`, { headers: { 'x-api-key': 'a test' } })
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of body!) {
      text += decoder.decode(bytes, { stream: true })
      opened.resolve()
      if (end.test(text)) return text
    }
    return text
  }
  const text = read()
  text.catch(opened.reject)
  return { opened: opened.promise, text }
}
