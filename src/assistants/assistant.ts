/** An assistant as a value: how versions are created and restored. Pure. */

import type { AssistantVersion } from '../../proto/gen/storage/v1/log.ts'
import type { AssistantRow, Branch } from '../../proto/gen/storage/v1/row.ts'
import { objectIn } from '../json/index.ts'
import { textOf } from '../raw-json.ts'
import { requireShort } from '../search/index.ts'

/** The content of one version of an assistant. */
export interface AssistantContent {
  readonly graphId: string
  readonly name: string
  readonly description: string | null
  readonly config: Readonly<Record<string, unknown>>
  /** Any JSON, as the graph's context schema asks for it. */
  readonly context: unknown
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A change of the content. What is absent stays as it is. */
export type AssistantChange = Partial<AssistantContent>

/** Fields of an assistant that never change. */
export interface AssistantIdentity {
  readonly tenant: string
  readonly assistantId: string
  readonly branch: Branch
}

/** The first version of an assistant. */
export function firstVersion(content: AssistantContent, atMs: number): AssistantVersion {
  return {
    version: 1,
    atMs,
    graphId: content.graphId,
    name: content.name,
    descriptionJson: JSON.stringify(content.description),
    configJson: JSON.stringify(content.config),
    contextJson: textOf(content.context),
    metadataJson: JSON.stringify(content.metadata),
  }
}

/**
 * The version after a change. `config` and `context` replace whole; metadata merges shallowly.
 * Throws `invalid` if the metadata gets too long.
 */
export function nextVersion(row: AssistantRow, change: AssistantChange,
  atMs: number): AssistantVersion {
  const { graphId, name, description, config, context, metadata } = change
  return {
    version: row.newestVersion + 1,
    atMs,
    graphId: graphId ?? row.graphId,
    name: name ?? row.name,
    descriptionJson: textOr(row.descriptionJson, description),
    configJson: textOr(row.configJson, config),
    contextJson: textOr(row.contextJson, context),
    metadataJson: metadata === undefined ? row.metadataJson : merged(row.metadataJson, metadata),
  }
}

function textOr(text: string, value: unknown): string {
  return value === undefined ? text : textOf(value)
}

function merged(json: string, change: Readonly<Record<string, unknown>>): string {
  const metadataJson = JSON.stringify({ ...objectIn(json), ...change })
  requireShort(metadataJson, json)
  return metadataJson
}

/** The row after its first version was written. The writer sets its log position. */
export function bornAs(identity: AssistantIdentity, version: AssistantVersion): AssistantRow {
  const { atMs } = version
  return {
    ...identity,
    ...contentOf(version),
    epoch: 0,
    seq: 0,
    version: 1,
    newestVersion: 1,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    applied: [],
    storedBytes: 0,
  }
}

/** The row after a new version was written. The newest version is the active one. */
export function withVersion(row: AssistantRow, version: AssistantVersion): AssistantRow {
  return { ...withActive(row, version, version.atMs), newestVersion: version.version }
}

/** The row after `version` was made the active one. All content is that of the version. */
export function withActive(row: AssistantRow, version: AssistantVersion,
  atMs: number): AssistantRow {
  return { ...row, ...contentOf(version), version: version.version, updatedAtMs: atMs }
}

/** A past version: the row as it was when the version was created. */
export function asOf(row: AssistantRow, version: AssistantVersion): AssistantRow {
  return { ...withActive(row, version, version.atMs), createdAtMs: version.atMs }
}

function contentOf(
  version: AssistantVersion,
): Pick<AssistantRow,
  'graphId' | 'name' | 'descriptionJson' | 'configJson' | 'contextJson' | 'metadataJson'> {
  const { graphId, name, descriptionJson, configJson, contextJson, metadataJson } = version
  return { graphId, name, descriptionJson, configJson, contextJson, metadataJson }
}
