/** Routes of operations: a handler returns the JSON of its answer, or sends the answer itself. */

import fastify from 'fastify'
import { expect, it } from 'vitest'

import { deleteItem, getItem } from '../../../../src/api/index.ts'
import type { App } from '../../../../src/frontdoor/http/route.ts'
import { serve } from '../../../../src/frontdoor/http/serve.ts'

it('Who sends an answer itself is not asked for another one.', async () => {
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push(line) }
  const app = fastify({ logger: { level: 'warn', stream } }) as unknown as App
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  serve(app, getItem, async (_, reply) => reply.type('application/json').send('null'))
  serve(app, deleteItem, async () => undefined)
  const [read, deleted] = [await app.inject({ method: 'GET', url: '/store/items' }),
    await app.inject({ method: 'DELETE', url: '/store/items' })]
  expect([read.statusCode, read.body, deleted.statusCode, deleted.body]).toEqual([200, 'null', 204,
    ''])
  expect(warnings).toEqual([])
  await app.close()
})
