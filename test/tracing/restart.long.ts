/** The server is killed and started again while a client traces: the client loses nothing. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { expectToPass } from './drive.ts'

const server = useServer({ project: 'conformance' })

it('a kill loses nothing that the client traces', async () => {
  const traced = expectToPass({
    args: ['restart-driver.mjs', `${server.url}/api/v1`, 'restart'],
    env: { LANGSMITH_TRACING: 'true' },
  }, 1)
  traced.catch(() => {})
  // It has begun when its project is there.
  await expect.poll(() => ask(server.url, 'GET', '/api/v1/sessions?name=restart'))
    .toMatchObject({ body: [{ name: 'restart' }] })
  await server.process.kill('SIGKILL')
  await server.process.restart()
  await traced
})
