/** The app of a project alone under Node, as its own process. Prints its port. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { sendAnswer, webRequestOf } from '../../src/graph/app-thread/app-answer.ts'
import { app } from '../support/projects/routes/app.ts'

const server = createServer(async (request, response) => {
  const asked = webRequestOf(request, new AbortController().signal)
  await sendAnswer(await app.fetch(asked!), response)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
