/** The server is killed and started again while a client traces: the client loses nothing. */

import { setTimeout as pause } from 'node:timers/promises'

import { it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectToPass } from './drive.ts'

const server = useServer({ project: 'conformance' })

it('a kill loses nothing that the client traces', async () => {
  const traced = expectToPass({
    args: ['restart-driver.mjs', `${server.url}/api/v1`, 'restart'],
    env: { LANGSMITH_TRACING: 'true' },
  }, 1)
  traced.catch(() => {})
  await Promise.race([pause(1_500), traced])
  await server.process.kill('SIGKILL')
  await server.process.restart()
  await traced
})
