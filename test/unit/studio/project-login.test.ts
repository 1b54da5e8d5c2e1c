/** The page before a project with a login: refused as a stranger, it asks as the page it is. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const scheme = 'x-auth-scheme'

/** The headers of all calls that were sent. */
let sent: Readonly<Record<string, string>>[]

beforeEach(() => {
  sent = []
  vi.resetModules()
  vi.stubGlobal('location', { pathname: '/studio/', hash: '', search: '' })
  vi.stubGlobal('document', { baseURI: 'http://localhost:7000/studio/', querySelector: () => null })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

/** A server that refuses with this status, unless a call is let in. */
async function before(status: number, isLetIn: (headers: Record<string, string>) => boolean) {
  vi.stubGlobal('fetch', async (_: string, { headers }: { headers: Record<string, string> }) => {
    sent.push(headers)
    return isLetIn(headers)
      ? Response.json({ fine: true })
      : Response.json({ detail: 'Who is it?' }, { status })
  })
  return await import('../../../src/studio/api/client.ts')
}

it.each([401, 403])('is let in after a refusal with %i, and says who it is from then on',
  async (status) => {
    const { askPage } = await before(status, (headers) => headers[scheme] === 'langsmith')
    const all = await Promise.all([askPage('/threads'), askPage('/runs')])
    expect(all.map(({ data }) => data)).toEqual([{ fine: true }, { fine: true }])
    await askPage('/assistants', { method: 'POST', body: {} })
    expect(sent.map((headers) => scheme in headers)).toEqual([false, false, true, true, true])
  })

it('says nothing of itself where nobody refuses it', async () => {
  const { askPage } = await before(401, () => true)
  await askPage('/threads')
  expect(sent).toEqual([{}])
})

it('asks for a credential where it is not let in, and then sends that alone', async () => {
  const { askPage } = await before(401, (headers) => headers['x-api-key'] === 'mine')
  await expect(askPage('/threads')).rejects.toMatchObject({ status: 401, message: 'Who is it?' })
  const { signIn } = await import('../../../src/studio/session.ts')
  signIn({ kind: 'key', text: 'mine' }, false)
  await askPage('/threads')
  expect(sent.at(-1)).toEqual({ 'x-api-key': 'mine' })
})
