/** Deployments as records of a catalog. Pure. */

import type { CatalogRecord, NewRecord } from '../../platform/index.ts'
import { defaultDeploymentLimits } from '../deployment.ts'
import type { Deployment, DeploymentChange, DeploymentLimits, Preview } from '../deployment.ts'
import type { OwedEvent } from '../deployment-event.ts'
import type { NewDeployment } from '../deployments.ts'
import type { Rollout, RolloutOutcome } from '../rollout.ts'
import type { LoadedSecrets, SecretEntry } from '../secret-set.ts'
import { StoredFields } from './stored-fields.ts'
import type { StoredRevision } from './revision-record.ts'

/** A deployment with what only its records know. */
export interface StoredDeployment extends Deployment {
  /** Number of revisions that were begun or removed. Each such change names the number it saw. */
  readonly references: number
  /** The newest change of what revisions refer to, whose record may not have been written yet. */
  readonly unsettled: Unsettled | null
  /** Bytes of all of its chunks. */
  readonly heldBytes: number
}

/** A revision that was begun, or that got its manifest. */
export interface Unsettled {
  readonly kind: 'begun' | 'built'
  readonly revision: StoredRevision
}

type Body = Partial<Omit<StoredDeployment, 'id' | 'name' | 'heldBytes'>>

/** The record of a new deployment. */
export function newDeploymentRecord(id: string,
  { name, tenant, access = 'own', hosts = [], limits, record = null, preview, provisional = false }:
    NewDeployment, nowMs: number): NewRecord {
  const body: Body = { tenant, access, hosts,
    limits: { ...defaultDeploymentLimits, ...preview && { workers: 1 }, ...limits }, record,
    paused: false, removing: false, active: null, previous: null, next: null, movesRuns: false,
    envVersion: 0, revisionCount: 0, rollout: null, lastRollout: null, preview: preview ?? null,
    provisional, owed: [], step: 0, references: 0, createdAtMs: nowMs, modifiedAtMs: nowMs }
  return { id, name, orderMs: nowMs, parentId: '', metadataJson: JSON.stringify({ tenant }),
    bodyJson: JSON.stringify(body) }
}

/** The deployment of a record. Of its hosts, it has those that it holds. */
export function deploymentOf({ id, name, bodyJson, heldBytes, createdAtMs }: CatalogRecord,
  holds: (host: string) => boolean): StoredDeployment {
  const body = new StoredFields(bodyJson)
  return {
    id,
    name,
    tenant: body.text('tenant', ''),
    access: body.text('access', '') === 'any' ? 'any' : 'own',
    hosts: body.texts('hosts').filter(holds),
    limits: { ...defaultDeploymentLimits, ...body.object<DeploymentLimits>('limits', []) },
    record: body.text('record', null),
    paused: body.flag('paused'),
    removing: body.flag('removing'),
    active: body.text('active', null),
    previous: body.text('previous', null),
    next: body.object<NonNullable<Deployment['next']>>('next', ['revision', 'percent']),
    movesRuns: body.flag('movesRuns'),
    envVersion: body.number('envVersion', 0),
    loadedSecrets: body.object<LoadedSecrets>('loadedSecrets', ['envVersion', 'entries']),
    keptSecrets: body.objects<SecretEntry>('keptSecrets', ['name', 'version', 'place']),
    revisionCount: body.number('revisionCount', 0),
    rollout: body.object<Rollout>('rollout', ['id', 'kind', 'revision', 'phase', 'members']),
    lastRollout: body.object<RolloutOutcome>('lastRollout', ['id', 'kind', 'result']),
    preview: body.object<Preview>('preview', ['of', 'label', 'ttlMs']),
    provisional: body.flag('provisional'),
    owed: body.objects<OwedEvent>('owed', ['kind', 'by', 'data', 'mark']),
    step: body.number('step', 0),
    createdAtMs: body.number('createdAtMs', createdAtMs),
    modifiedAtMs: body.number('modifiedAtMs', createdAtMs),
    references: body.number('references', 0),
    unsettled: body.object<Unsettled>('unsettled', ['kind', 'revision']),
    heldBytes,
  }
}

/** Body of a changed record. Numbers of revisions are left out: beginning a revision gives them. */
export function changedBody({ step }: Deployment, change: DeploymentChange, nowMs: number): string {
  const { revisionCount: _, ...rest } = change
  return bodyOf({ ...rest, step: step + 1, modifiedAtMs: nowMs })
}

/** A body, or members that replace those of one. */
export function bodyOf(body: Body): string {
  return JSON.stringify(body)
}

/** True if a deployment points to the revision, or is being rolled out to it or from it. */
export function pointsTo({ active, previous, next, rollout }: Deployment,
  revision: string): boolean {
  return [active, previous, next?.revision, rollout?.revision, rollout?.from].includes(revision)
}
