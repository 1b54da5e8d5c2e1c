/** A project with all that a langgraph.json may bring, served: its parts work together. */

import { afterAll, beforeAll, describe, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { Bakery } from './whole/bakery.ts'
import { promises } from './whole/promises.ts'

const secret = 'a secret of the bakery alone'
const gate = useGates()
let server: ServerProcess
let bakery: Bakery

beforeAll(async () => {
  server = await startServer({ project: 'whole', args: oneWorker, env: { BAKERY_SECRET: secret } })
  // Without the prefix of the project, and below it.
  bakery = new Bakery([{ url: server.url }, { url: `${server.url}/branch` }], secret)
})
afterAll(() => server?.close())

describe('a project with a login, an app, components and agents', () => {
  it.each(promises)('%s', (_, keep) => keep(bakery, gate()))
})
