/**
 * A login as guides write them: a provider says whose token it is and with which scopes; threads,
 * assistants and crons belong to who makes them, and may be shared; items are in the namespace of
 * their user. The page of developers sees all.
 */

import { Auth, HTTPException, isStudioUser } from '@langchain/langgraph-sdk/auth'

interface Account {
  readonly id: string
  readonly scopes: readonly string[]
}

async function accountOf(authorization: string): Promise<Account | undefined> {
  const answer = await fetch(process.env['PROVIDER_URL']!, { headers: { authorization } })
  return answer.ok ? await answer.json() as Account : undefined
}

/** A filter, as the types of the client have it: they do not know `$or`. */
type Filter = Record<string, string>

const refused = () => new HTTPException(403, { message: 'Your token does not have this scope.' })

export const auth = new Auth()
  .authenticate(async ({ headers }) => {
    const account = await accountOf(headers.get('authorization') ?? '')
    if (account === undefined) {
      throw new HTTPException(401, { message: 'Log in first.',
        headers: { 'www-authenticate': 'Bearer' } })
    }
    return { identity: account.id, permissions: [...account.scopes],
      email: `${account.id}@a.example` }
  })
  .on('*', () => {
    throw refused()
  })
  .on(['threads', 'crons', 'assistants'], ({ value, user, action, permissions }) => {
    if (isStudioUser(user)) return {} as Filter
    const changes = ['create', 'update', 'delete', 'create_run'].includes(action)
    if (!permissions.includes(changes ? 'write' : 'read')) throw refused()
    const { identity } = user
    if ('metadata' in value && action !== 'search') {
      value.metadata = { ...value.metadata, ...action !== 'update' && { owner: identity } }
    }
    const own: Filter = { owner: identity }
    const shared = { $or: [own, { readers: { $contains: identity } }] } as object as Filter
    return changes ? own : shared
  })
  .on('assistants:create', ({ value, user, permissions }) => {
    if (!permissions.includes('assistants')) throw refused()
    value.metadata = { ...value.metadata, owner: user.identity }
  })
  .on('store', ({ value, user }) => {
    const first = value.namespace?.[0]
    if (first !== undefined && first !== user.identity) throw refused()
    return { namespace: { $contains: user.identity } }
  })
