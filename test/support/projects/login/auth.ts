/** A login by a token that is a name: each user sees what is their own. */

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'

export const auth = new Auth()
  .authenticate((request) => {
    const [, name] =
      /^Bearer (ann|ben|odd|out)$/.exec(request.headers.get('authorization') ?? '') ?? []
    if (name === undefined) {
      throw new HTTPException(401, { message: 'Who is it?', headers: { 'x-login': 'names' } })
    }
    return { identity: name, permissions: [`of ${name}`], team: `team of ${name}` }
  })
  .on('*', ({ value, user }) => {
    if (user.identity === 'odd') throw new Error('a secret of the login')
    if (user.identity === 'out') return false
    if ('metadata' in value && typeof value.metadata === 'object' && value.metadata !== null) {
      Object.assign(value.metadata, { owner: user.identity })
    }
    return { owner: user.identity }
  })
  .on('assistants', ({ user }) => user.identity !== 'out')
  .on('store', ({ value, user }) => {
    if (user.identity === 'out') return false
    if (!('namespace' in value)) return true
    value.namespace = [user.identity, ...(value.namespace ?? []) as string[]]
    return true
  })
  .on('threads:delete', () => false)
