/**
 * A login that goes wrong as its caller asks. The token `at-throws` makes `authenticate` throw,
 * `on-throws` the handlers; any other token is a user for whom nothing goes wrong.
 */

import { Auth } from '@langchain/langgraph-sdk/auth'

const secret = 'the-password-of-the-database'
const kept: unknown[] = []

function fill(): never {
  for (;;) kept.push(Array.from({ length: 100_000 }, () => ({ secret })))
}

function spin(): never {
  for (;;) kept.length = 0
}

const faults: Readonly<Record<string, (value: Record<string, unknown>) => unknown>> = {
  throws: () => {
    throw Object.assign(new Error(secret), { status: 401, headers: { 'x-secret': secret } })
  },
  rejects: () => Promise.reject(secret),
  hangs: () => new Promise(() => {}),
  nonsense: () => 'yes',
  wider: () => ({ owner: undefined }),
  changes: (value) => {
    for (const name of Object.keys(value)) value[name] = { secret }
    return true
  },
  forgets: () => {
    void Promise.reject(new Error(secret))
    throw new Error(secret)
  },
  fills: fill,
  spins: spin,
}

export const auth = new Auth()
  .authenticate((request) => {
    const [, name = ''] = /^Bearer (\S+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    const [at, fault = ''] = name.split('-')
    return at === 'at' ? faults[fault]!({}) as string : name
  })
  .on('*', ({ value, user }) => {
    const [at, fault = ''] = user.identity.split('-')
    const result = at === 'on' ? faults[fault]!(value as Record<string, unknown>) : true
    return result as boolean
  })
