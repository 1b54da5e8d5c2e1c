/** A login by passes that the secret `BAKERY_SECRET` signs: each user sees what is their own. */

import { createHmac } from 'node:crypto'

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'

const secret = process.env['BAKERY_SECRET']
if (!secret) throw new Error('BAKERY_SECRET is missing')

/** What a user brings after `Bearer`. */
const passOf = (name: string) =>
  `${name}.${createHmac('sha256', secret).update(name).digest('hex').slice(0, 16)}`

export const auth = new Auth()
  .authenticate((request) => {
    const [, pass = '', name = ''] =
      /^Bearer ((\w+)\.\w+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    if (pass === '' || pass !== passOf(name)) {
      throw new HTTPException(401, { message: 'Show your pass.', headers: { 'x-login': 'passes' } })
    }
    return { identity: name, permissions: [`of ${name}`], team: `team of ${name}` }
  })
  .on('*', ({ value, user }) => {
    if (user.identity === 'throws') throw new Error(`It holds ${secret}.`)
    if (user.identity === 'denied') return false
    if ('metadata' in value && typeof value.metadata === 'object' && value.metadata !== null) {
      Object.assign(value.metadata, { owner: user.identity })
    }
    return { owner: user.identity }
  })
  .on('assistants', ({ user }) => user.identity !== 'denied')
  .on('store', ({ value, user }) => {
    if (user.identity === 'denied') return false
    if ('namespace' in value) value.namespace = [user.identity, ...value.namespace ?? []]
    return true
  })
