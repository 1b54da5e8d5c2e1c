/** Records of one deployment in memory, for tests of roll-outs. */

import { defaultDeploymentLimits } from '../../src/deployment/index.ts'
import type { Deployment, Deployments, NewEvent, Revision } from '../../src/deployment/index.ts'
import { HeddleError } from '../../src/errors.ts'

/** What roll-outs use of the records. */
export type RolloutRecords = Pick<Deployments,
  'get' | 'list' | 'change' | 'revision' | 'changeRevision' | 'missing' | 'note' | 'noteOwed'
    | 'settle'>

/** The records, and what they hold now. */
export interface KeptRecords extends RolloutRecords {
  deployment: Deployment
  readonly revisionsByName: Map<string, Revision>
  readonly noted: NewEvent[]
}

/** A deployment with no revision. */
export function aDeployment(more: Partial<Deployment> = {}): Deployment {
  return { id: '00000000-0000-4000-8000-000000000001', name: 'shop', tenant: 'acme', access: 'own',
    hosts: [], limits: defaultDeploymentLimits, paused: false, removing: false, movesRuns: false,
    active: null, previous: null, next: null, envVersion: 0, revisionCount: 0, rollout: null,
    lastRollout: null, preview: null, owed: [], step: 0, createdAtMs: 0, modifiedAtMs: 0, ...more }
}

/** A revision whose chunks are all there. */
export function aRevision(name: string, more: Partial<Revision> = {}): Revision {
  return { id: `id-${name}`, deployment: aDeployment().id, name, number: Number(name.slice(1)),
    hash: name, state: 'uploading', message: '', by: 'local', bytes: 1, files: 1, platform: null,
    wantsEnv: [], source: null, settings: null, graphs: [], reason: null, failures: [],
    createdAtMs: 0, expiresAtMs: 1, activeAtMs: null, ...more }
}

/** Keeps them. */
export function keptRecords(deployment: Deployment, revisions: readonly Revision[]): KeptRecords {
  const revisionsByName = new Map(revisions.map((revision) => [revision.name, revision]))
  const noted: NewEvent[] = []
  let lastMark = 0
  const kept: KeptRecords = {
    deployment,
    revisionsByName,
    noted,
    get: async () => kept.deployment,
    list: async () => [kept.deployment],
    change: async (before, change) => {
      const { step } = kept.deployment
      if (before.step !== step) throw new HeddleError('stale')
      kept.deployment = { ...kept.deployment, ...change, step: step + 1 }
      return kept.deployment
    },
    revision: async (_, name) => {
      const revision = revisionsByName.get(name)
      if (revision === undefined) throw new HeddleError('not_found')
      return revision
    },
    changeRevision: async ({ name }, change) => {
      const revision = { ...revisionsByName.get(name)!, ...change }
      revisionsByName.set(name, revision)
      return revision
    },
    missing: async () => [],
    note: async (_, event) => {
      noted.push(event)
      return { ...event, seq: noted.length, atMs: 0 }
    },
    noteOwed: async (_, { mark, ...event }) => {
      if (mark <= lastMark) return
      lastMark = mark
      noted.push(event)
    },
    settle: async ({ step }) => {
      if (step !== kept.deployment.step) throw new HeddleError('stale')
      kept.deployment = { ...kept.deployment, owed: [] }
    },
  }
  return kept
}
