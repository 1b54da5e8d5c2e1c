/** The login of the guarded deployment: the token is the name of the user. */

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'

export const auth = new Auth()
  .authenticate((request) => {
    const identity = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    if (identity === undefined) throw new HTTPException(401)
    return { identity, permissions: [] }
  })
  .on('*', ({ value, user }) => {
    const owned = value as { metadata?: Record<string, unknown> }
    if ('metadata' in owned) owned.metadata = { ...owned.metadata, owner: user.identity }
    return { owner: user.identity }
  })
