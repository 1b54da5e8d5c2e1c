/** The credential of the page: a link never replaces one that is in use without a question. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

class MemoryStorage extends Map<string, string> {
  getItem = (name: string) => this.get(name) ?? null
  setItem = (name: string, text: string) => void this.set(name, text)
  removeItem = (name: string) => void this.delete(name)
}

let stored: MemoryStorage

beforeEach(() => {
  stored = new MemoryStorage()
  vi.stubGlobal('sessionStorage', stored)
  vi.stubGlobal('localStorage', new MemoryStorage())
  vi.stubGlobal('history', { replaceState: vi.fn() })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

/** The page after it was opened at an address, with what is stored. */
async function opened(hash: string) {
  vi.stubGlobal('location', { hash, pathname: '/studio/', search: '' })
  vi.resetModules()
  const session = await import('../../../src/studio/session.ts')
  session.takeSessionFromAddress()
  return session
}

const use = (kind: 'key' | 'session', text: string) =>
  stored.setItem('studio.credential', JSON.stringify({ kind, text }))

it('takes the session of an address if there is no other, and removes it there', async () => {
  const { credentials } = await opened('#session=a.b.c')
  expect(credentials()).toEqual({ authorization: 'Bearer a.b.c' })
  expect(history.replaceState).toHaveBeenCalledWith(null, '', '/studio/')
})

it.each(['key', 'session'] as const)('keeps a %s that is in use until the person says so',
  async (kind) => {
    use(kind, 'mine')
    const session = await opened('#session=theirs')
    const mine = kind === 'key' ? { 'x-api-key': 'mine' } : { authorization: 'Bearer mine' }
    expect(session.credentials()).toEqual(mine)
    expect(stored.getItem('studio.credential')).toContain('mine')
    expect(history.replaceState).toHaveBeenCalledOnce()
    session.declineOffer()
    expect(session.credentials()).toEqual(mine)
    session.signIn({ kind: 'session', text: 'theirs' }, false)
    expect(session.credentials()).toEqual({ authorization: 'Bearer theirs' })
  })
