/** For each route of the control API: a request that a deployer of the owner may send. */

import { aManifest } from '../mount/deployment-door.ts'

export interface ControlCase {
  readonly body?: unknown
  readonly query?: string
  /** Sent as bytes. */
  readonly chunk?: Buffer
  /** Everybody with the role is answered, with what is theirs. */
  readonly isOwn?: boolean
}

const { manifest, chunk } = aManifest()
const root = '/control/v1/deployments'
const one = `${root}/{deployment}`

/** By method and path, as in /openapi.json. Those that remove come last. */
export const controlCases: Readonly<Record<string, ControlCase>> = {
  [`POST ${root}`]: { body: { name: 'another' }, isOwn: true },
  [`GET ${root}`]: { isOwn: true },
  [`GET ${one}`]: {},
  [`PATCH ${one}`]: { body: { paused: false } },
  [`POST ${one}/revisions`]: { body: { manifest } },
  [`GET ${one}/revisions`]: {},
  [`GET ${one}/revisions/{revision}`]: {},
  [`GET ${one}/revisions/{revision}/chunks`]: {},
  [`PUT ${one}/revisions/{revision}/chunks/{sha256}`]: { chunk },
  [`POST ${one}/builds`]: { body: { archive: aManifest().archive, config: 'langgraph.json' } },
  [`PUT ${one}/revisions/{revision}/source/{sha256}`]: { chunk },
  [`POST ${one}/revisions/{revision}/build`]: { body: {} },
  [`POST ${one}/revisions/{revision}/check`]: {},
  [`POST ${one}/revisions/{revision}/activate`]: { body: {} },
  [`POST ${one}/rollback`]: { body: { to: 'r2' } },
  [`POST ${one}/replays`]: { body: { revision: 'r1' } },
  [`GET ${one}/replays`]: {},
  [`GET ${one}/replays/{replay}`]: {},
  [`GET ${one}/replays/{replay}/runs`]: {},
  [`POST ${one}/replays/{replay}/cancel`]: {},
  [`GET ${one}/secrets`]: {},
  [`PUT ${one}/secrets`]: { body: { values: { A: 'x' } } },
  [`PUT ${one}/secrets/{name}`]: { body: { value: 'x' } },
  [`DELETE ${one}/secrets/{name}`]: {},
  [`GET ${one}/events`]: { query: '?follow=false' },
  [`GET ${one}/logs`]: {},
  [`DELETE ${one}/revisions/{revision}`]: { query: '?force=true' },
  [`DELETE ${one}`]: { query: '?data=remove' },
}
