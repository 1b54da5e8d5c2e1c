/** The handlers of a login: which one is asked, and what becomes of its answer. */

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
import { describe, expect, it } from 'vitest'

import type { AppUser, AskedAction, ProjectLogin } from '../../../../src/graph/app/project-app.ts'
import { loginOver } from '../../../../src/graph/app-thread/login-handlers.ts'

const user: AppUser = { identity: 'ann', permissions: ['read'], is_authenticated: true,
  display_name: 'ann' }
const request = { method: 'GET', url: 'http://x/threads',
  headers: [['authorization', 'a']] } as const
const asked: AskedAction = { resource: 'threads', action: 'create', value: { metadata: {} }, user }

function loginOf(make: (auth: Auth) => unknown) {
  const faults: unknown[] = []
  const auth = new Auth()
  make(auth)
  const login: ProjectLogin = loginOver(auth, (...fault) => faults.push(fault))
  return { login, faults }
}

const authenticating = (result: () => unknown) =>
  loginOf((auth) => auth.authenticate(result as never))

const deciding = (result: (asked: { value: { metadata?: unknown } }) => unknown) =>
  loginOf((auth) => auth.authenticate(() => 'ann').on('threads', result as never))

describe('authenticate', () => {
  it('gets the request, and its user has all that is always there', async () => {
    let seen: Request | undefined
    const { login } = loginOf((auth) =>
      auth.authenticate((sent) => {
        seen = sent
        return { identity: 'ann', permissions: ['read', 'write'], tier: { gold: true },
          gone: undefined } as never
      })
    )
    expect(await login.authenticate(request)).toEqual({ kind: 'user',
      user: { identity: 'ann', permissions: ['read', 'write'], is_authenticated: true,
        display_name: 'ann', tier: { gold: true } } })
    expect([seen?.method, seen?.url, seen?.headers.get('authorization')])
      .toEqual(['GET', 'http://x/threads', 'a'])
  })

  it('may return a text', async () => {
    expect(await authenticating(() => 'ann').login.authenticate(request))
      .toMatchObject({ kind: 'user', user: { identity: 'ann', permissions: [] } })
  })

  it('refuses by an HTTPException, with its status, message and headers', async () => {
    const { login, faults } = authenticating(() => {
      throw new HTTPException(401, { message: 'No.', headers: { 'x-why': 'expired' } })
    })
    expect(await login.authenticate(request)).toEqual({ kind: 'refused', status: 401,
      message: 'No.', headers: [['x-why', 'expired']] })
    expect(faults).toEqual([])
  })

  it.each([
    ['nothing', () => undefined],
    ['an empty identity', () => ({ identity: '' })],
    ['a number', () => ({ identity: 5 })],
    ['a circle', () => {
      const made: Record<string, unknown> = { identity: 'ann' }
      return Object.assign(made, { made })
    }],
    ['an error of another service', () => {
      throw Object.assign(new Error('key sk-1 is wrong'), { status: 401, headers: {} })
    }],
    ['a status that is no refusal', () => {
      throw new HTTPException(200 as never, { message: 'fine' })
    }],
    ['too much', () => ({ identity: 'ann', text: 'x'.repeat(2_000_000) })],
  ])('that returns or throws %s is a fault that says nothing to the caller', async (_, result) => {
    const { login, faults } = authenticating(result)
    expect(await login.authenticate(request)).toEqual({ kind: 'refused', status: 500,
      message: 'Internal Server Error', headers: [] })
    expect(faults).toHaveLength(1)
  })
})

describe('on', () => {
  it('asks the nearest handler only', async () => {
    const chosen: string[] = []
    const { login } = loginOf((auth) => {
      auth.authenticate(() => 'ann')
      for (const event of ['*', '*:create', 'threads', 'threads:create'] as const) {
        auth.on(event as never, () => {
          chosen.push(event)
        })
      }
    })
    await login.on(asked)
    await login.on({ ...asked, action: 'read' })
    await login.on({ ...asked, resource: 'crons' })
    await login.on({ ...asked, resource: 'store', action: 'put' })
    expect(chosen).toEqual(['threads:create', 'threads', '*:create', '*'])
    expect(login.events).toEqual(['*', '*:create', 'threads', 'threads:create'])
  })

  it('allows what no handler is about', async () => {
    const { login } = deciding(() => false)
    expect(await login.on({ ...asked, resource: 'store', action: 'put' }))
      .toEqual({ kind: 'allowed' })
  })

  it('returns the changed value and the filter', async () => {
    const { login } = deciding(({ value }) => {
      value.metadata = { owner: 'ann' }
      return { owner: 'ann', $or: [{ a: { $contains: ['x'] } }] }
    })
    expect(await login.on(asked)).toEqual({ kind: 'allowed', value: { metadata: { owner: 'ann' } },
      filter: { owner: 'ann', $or: [{ a: { $contains: ['x'] } }] } })
    // A second question gets its own value.
    expect(asked.value).toEqual({ metadata: {} })
  })

  it.each([[undefined], [null], [true]])('allows without a filter for %s', async (result) => {
    expect(await deciding(() => result).login.on(asked)).toEqual({ kind: 'allowed',
      value: { metadata: {} } })
  })

  it('refuses for false', async () => {
    expect(await deciding(() => false).login.on(asked))
      .toMatchObject({ kind: 'refused', status: 403 })
  })

  it.each([
    ['a text', () => 'yes'],
    ['a list', () => []],
    ['a filter that JSON would widen', () => ({ owner: undefined })],
    ['a filter with a function', () => ({ owner: { $eq: () => 'ann' } })],
    ['a filter with no number', () => ({ owner: Number.NaN })],
    ['a filter of which JSON leaves nothing', () => new Map([['owner', 'ann']])],
    ['a filter with a part that JSON drops', () => ({ owner: { toJSON: () => undefined } })],
  ])('is a fault for %s', async (_, result) => {
    const { login, faults } = deciding(result)
    expect(await login.on(asked)).toMatchObject({ kind: 'refused', status: 500 })
    expect(faults).toHaveLength(1)
  })
})

it.each([[undefined], [{}], [new Auth()], [{ '~handlerCache': { callbacks: {} } }]])(
  'What is no login, or has no authenticate, is refused: %j',
  (auth) => {
    expect(() => loginOver(auth, () => {})).toThrow()
  },
)
