/** One member with everything it serves, put together stage by stage and taken apart in reverse. */

import { readFileSync } from 'node:fs'

import {
  Activations, createInbound, createLifecycle, createRouter, defaultShards, inProcessTransport,
  placedOwnership, soleMember,
} from '../cluster/index.ts'
import type { Env, Lifecycle, Router } from '../cluster/index.ts'
import type { Settings } from './config.ts'
import { HeddleError } from './errors.ts'
import { openFrontDoor } from './frontdoor/index.ts'
import type { FrontDoor } from './frontdoor/index.ts'
import { compileProject, readProject, startGraphHost, watchProject } from './graph/index.ts'
import type { Project, RunningGraphHost } from './graph/index.ts'
import { assistantClient, assistantKind } from './records/index.ts'
import { openEmbeddedStore } from './store/embedded/index.ts'
import type { EmbeddedStore } from './store/embedded/index.ts'
import { ByteBudget, createThreadClient, defaultLimits, threadKind } from './thread/index.ts'

export interface Server {
  readonly url: string
  readonly project: Project
  /** Ends within the time that the settings give it. Runs cut short resume at the next start. */
  close(): Promise<void>
}

/** What all threads together may remember of states, and of the events of finished runs. */
const memory = { viewsBytes: 256 * 1024 * 1024, feedsBytes: 64 * 1024 * 1024 } as const

/** How many of the threads that a start must look at are woken at once. */
const wokenAtOnce = 8

/** The most that each stage gets of the time for ending. */
const shares = { frontDoor: 0.05, runs: 0.65, actors: 0.1, graphs: 0.05, store: 0.1 } as const

/** Resolves when it serves. Throws HeddleError with a sentence where a setting cannot work. */
export async function openServer(settings: Settings, env: Env): Promise<Server> {
  const lifecycle = createLifecycle(env)
  const project = await readProject(settings.config)
  for (const warning of project.warnings) env.log.warn(warning)
  const stopMs = (stage: keyof typeof shares) => settings.drainMs * shares[stage]
  // Opening the store and compiling the project both wait: side by side.
  const compiling = compileProject(project)
  const store = await lifecycle.start('store', {
    startMs: 60_000,
    start: () => openEmbeddedStore({ directory: settings.dataDirectory, env }),
    stopMs: stopMs('store'),
    stop: (store) => store.close(),
  })
}
