/** The front door of a simulated member: the real application, which gets requests in process. */

import { createThreadClient } from '../../../src/thread/index.ts'
import { assistantClient } from '../../../src/assistants/index.ts'
import { cronClient } from '../../../src/crons/index.ts'
import { graphHosts } from '../../../src/graph/index.ts'
import type { GraphHost } from '../../../src/graph/index.ts'
import { allowedOperations, cronAdmission } from '../../../src/frontdoor/authorise/index.ts'
import { openApp } from '../../../src/frontdoor/door-app.ts'
import { DoorPorts } from '../../../src/frontdoor/door-ports.ts'
import type { FrontDoorOptions } from '../../../src/frontdoor/front-door-options.ts'
import type { App } from '../../../src/frontdoor/http/route.ts'
import { ServedHosts } from '../../../src/frontdoor/mount/index.ts'
import { operationsOver } from '../../../src/frontdoor/operations/index.ts'
import { protocolRoutes } from '../../../src/frontdoor/protocol-v2/index.ts'
import { addRest } from '../../../src/frontdoor/rest/app.ts'
import { readLongJson } from '../../../src/json/index.ts'
import { noUse, Quotas, unlimited } from '../../../src/limits/index.ts'
import type { ReadQuota } from '../../../src/limits/index.ts'
import type { Actors } from '../../../src/server/actors.ts'
import type { Backend } from '../../../src/server/backends/backend.ts'
import type { Process } from '../process.ts'

export interface ServingDoorParts {
  readonly process: Process
  readonly backend: Backend
  readonly actors: Actors
  readonly graphs: GraphHost
  readonly reads: ReadQuota
  readonly egress: FrontDoorOptions['egress']
}

/** Opens the application with the routes of REST and of protocol v2. It listens on no port. */
export async function openServingDoor(parts: ServingDoorParts): Promise<App> {
  const { process: { env }, backend, actors: { router, items }, graphs, reads, egress } = parts
  const json = readLongJson(env.log)
  const threads = createThreadClient({ router, threads: backend.everybody.threads,
    newThreadId: env.uuid, reads, env, json })
  const assistants = assistantClient(router)
  const options: FrontDoorOptions = {
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0',
    env,
    json,
    threads,
    assistants,
    graphs,
    reads,
    egress,
    items,
    admitCron: cronAdmission({ threads, assistants, graphs: graphHosts(graphs, undefined), env }),
    assistantIndex: backend.everybody.assistants,
    crons: cronClient(router),
    cronIndex: backend.everybody.crons,
    runIndex: backend.runs,
    dependencies: [],
    placeOf: () => Promise.reject(new Error('no client asks for places')),
    cluster: { embedded: false, shards: backend.ownership.shards, status: backend.status,
      ask: () => Promise.reject(new Error('no client asks for members')) },
  }
  const quotas = new Quotas({ limits: unlimited, use: async () => noUse }, env)
  const ports = new DoorPorts(options)
  const { app, bodies, sockets } = await openApp(options, ports, new ServedHosts())
  const shared = { ...allowedOperations(operationsOver({ ...options, quotas }), env), quotas,
    ticker: ports.ticker, reads }
  await addRest(app, { ...options, ...shared, json, bodies, clusterStatus: backend.status,
    offer: { auth: 'none', graphs: () => [],
      features: { studio: false, traces: false, crons: true, store: true, cluster: true,
        keys: false, deployments: false } } })
  protocolRoutes(app, { ...shared, env, json, bodies, sockets })
  await app.ready()
  return app
}
