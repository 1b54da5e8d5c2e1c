/** A build that has not ended, as a record of a catalog. Pure. */

import { isOneOf } from '../../json/index.ts'
import type { CatalogRecord, NewRecord } from '../../platform/index.ts'
import type { Manifest, SourceForm } from '../../revision/index.ts'
import { StoredFields } from '../records/stored-fields.ts'

/**
 * waiting    its files are uploaded, and no member has begun it
 * receiving  a file is being received: its address was used
 * received   that file is there
 * building   a member builds it
 * built      the revision has its manifest and its chunks
 */
export type BuildPhase = 'waiting' | 'receiving' | 'received' | 'building' | 'built'

/** A build. Times are milliseconds since 1970. */
export interface Build {
  /** The id of its revision. */
  readonly id: string
  /** The UUID and the name of its deployment. */
  readonly deploymentId: string
  readonly deployment: string
  readonly tenant: string
  /** As `r12`. */
  readonly revision: string
  readonly phase: BuildPhase
  readonly by: string
  readonly source: SourceForm
  readonly config: string
  readonly wantsEnv: readonly string[]
  readonly git: Manifest['source']
  /** True if the revision is made active once it is built. */
  readonly activates: boolean
  /** SHA-256 of what the address of its upload ends with; empty if it has none. */
  readonly addressHash: string
  /** When a build that has not begun is given up, or one that has. */
  readonly endsAtMs: number
  /** The process that builds it; null before. */
  readonly builder: string | null
}

/** The record of a new build. */
export function buildRecord({ id, ...body }: Build, nowMs: number): NewRecord {
  return { id, name: id, orderMs: nowMs, parentId: body.deploymentId, metadataJson: '{}',
    bodyJson: JSON.stringify(body) }
}

const phases: readonly BuildPhase[] = ['waiting', 'receiving', 'received', 'building', 'built']

/** The build of a record. */
export function buildOf({ id, bodyJson }: CatalogRecord): Build {
  const body = new StoredFields(bodyJson)
  const phase = body.text('phase', '')
  return {
    id,
    deploymentId: body.text('deploymentId', ''),
    deployment: body.text('deployment', ''),
    tenant: body.text('tenant', ''),
    revision: body.text('revision', ''),
    // A build in an unknown phase is not begun here, and given up in time.
    phase: isOneOf(phases, phase) ? phase : 'receiving',
    by: body.text('by', ''),
    source: body.object<SourceForm>('source', ['kind']) ?? { kind: 'tar' },
    config: body.text('config', ''),
    wantsEnv: body.texts('wantsEnv'),
    git: body.object<Manifest['source']>('git', ['commit', 'branch', 'dirty']) ?? noGit,
    activates: body.flag('activates'),
    addressHash: body.text('addressHash', ''),
    endsAtMs: body.number('endsAtMs', 0),
    builder: body.text('builder', null),
  }
}

/** Source of files whose commit and branch are not known. */
export const noGit: Manifest['source'] = { commit: null, branch: null, dirty: false }

/**
 * Reason for giving up a build; undefined if it goes on. `isAlive` says whether the process that
 * builds still exists. A phase `built` is never given up: any member may clear its remains.
 */
export function endOf({ phase, builder, endsAtMs }: Build, nowMs: number,
  isAlive: (builder: string) => boolean): string | undefined {
  if (phase === 'built') return undefined
  if (phase === 'building' && builder !== null && !isAlive(builder)) {
    return 'The server that built it ended in the middle: deploy it again.'
  }
  if (nowMs <= endsAtMs) return undefined
  return phase === 'building'
    ? 'The build did not end in time: deploy it again.'
    : 'Its files were not uploaded in time: deploy it again.'
}
