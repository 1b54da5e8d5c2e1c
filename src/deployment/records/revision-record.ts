/** Revisions as records of a catalog. Pure. */

import type { GraphDescription, ProjectSettings, TrialRun } from '../../graph/index.ts'
import { isOneOf } from '../../json/index.ts'
import type { CatalogRecord, NewRecord } from '../../platform/index.ts'
import type { Manifest } from '../../revision/index.ts'
import type { GraphFailure, Revision, RevisionState } from '../revision.ts'
import { StoredFields } from './stored-fields.ts'

/** A revision with what only its records know. */
export interface StoredRevision extends Revision {
  /** Names its manifest among the documents of its deployment; null while it is built. */
  readonly content: string | null
  /** True once it is removed and its chunks are gone as well. */
  readonly swept: boolean
}

/** Content of a new revision, with its number and its author. */
export interface RevisionParts
  extends
    Pick<Revision,
      'id' | 'deployment' | 'number' | 'message' | 'by' | 'createdAtMs' | 'expiresAtMs'> {
  /** Undefined if it is to be built. */
  readonly manifest?: { readonly content: Manifest; readonly hash: string }
}

const states: readonly RevisionState[] = ['uploading', 'building', 'ready', 'refused', 'removed']

/** A revision that was just begun: `uploading` with a manifest, or else `building`. */
export function newRevision({ manifest, ...parts }: RevisionParts): StoredRevision {
  return { ...parts, name: `r${parts.number}`, hash: '', state: 'building', bytes: 0, files: 0,
    platform: null, wantsEnv: [], source: null, settings: null, graphs: [], reason: null,
    failures: [], activeAtMs: null, content: null, swept: false,
    ...manifest && { ...ofManifest(manifest.content, manifest.hash), content: parts.id } }
}

/** The members of a revision that come from its manifest. */
export function ofManifest({ archives, platform, wants_env, source, check, settings }: Manifest,
  hash: string) {
  const chunks = archives.flatMap((archive) => archive.chunks)
  return {
    hash,
    state: 'uploading',
    bytes: chunks.reduce((sum, { bytes }) => sum + bytes, 0),
    files: archives.reduce((sum, { files }) => sum + files, 0),
    platform,
    wantsEnv: wants_env,
    ...check &&
      {
        trial: { graphId: check.graph_id, inputJson: check.input_json,
          ...check.expect_json !== undefined && { expectJson: check.expect_json } },
      },
    source,
    settings: settings ?? null,
  } as const
}

/** The record of a revision. */
export function revisionRecord(
  { id, deployment, name, number, ...body }: StoredRevision,
): NewRecord {
  return { id, name: `${deployment}/${name}`, parentId: deployment, orderMs: number,
    metadataJson: '{}', bodyJson: JSON.stringify(body) }
}

/** The revision of a record. */
export function revisionOf(
  { id, name, parentId, orderMs, bodyJson, createdAtMs }: CatalogRecord,
): StoredRevision {
  const body = new StoredFields(bodyJson)
  const state = body.text('state', '')
  return {
    id,
    deployment: parentId,
    name: name.slice(name.indexOf('/') + 1),
    number: orderMs,
    hash: body.text('hash', ''),
    // A revision in an unknown state takes no runs here.
    state: isOneOf(states, state) ? state : 'refused',
    message: body.text('message', ''),
    by: body.text('by', ''),
    bytes: body.number('bytes', 0),
    files: body.number('files', 0),
    platform: body.text('platform', null),
    wantsEnv: body.texts('wantsEnv'),
    source: body.object<NonNullable<Revision['source']>>('source', ['commit', 'branch', 'dirty']),
    settings: body.object<ProjectSettings>('settings', ['webhooks', 'disable_webhooks', 'store',
      'time_to_live']),
    trial: body.object<TrialRun>('trial', ['graphId', 'inputJson']),
    triedAtMs: body.number('triedAtMs', null),
    graphs: body.objects<GraphDescription>('graphs', ['graphId', 'nodes', 'stateChannels']),
    reason: body.text('reason', null),
    failures: body.objects<GraphFailure>('failures', ['graph_id', 'message']),
    createdAtMs: body.number('createdAtMs', createdAtMs),
    expiresAtMs: body.number('expiresAtMs', null),
    activeAtMs: body.number('activeAtMs', null),
    content: body.text('content', null),
    swept: body.flag('swept'),
  }
}
