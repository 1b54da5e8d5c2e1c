/** Sessions of the Model Context Protocol on one server, which is killed and starts again. */

import { startServer } from '../support/server-process.ts'
import { describeToolSessions } from './tool-sessions.ts'

describeToolSessions('a server that starts again', async () => {
  const server = await startServer({ project: 'conformance' })
  return {
    doors: [server.url, server.url, server.url],
    kill: async () => {
      await server.kill('SIGKILL')
      await server.restart()
    },
    restore: async () => {},
    story: () => server.output(),
    close: () => server.close(),
  }
})
