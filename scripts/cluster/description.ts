/** The file cluster.json: the parts of a running cluster and how to reach them. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A running cluster. */
export interface ClusterDescription {
  /** The URLs of the members that serve. */
  readonly frontDoors: readonly string[]
  readonly members: readonly MemberDescription[]
  readonly cassandra: readonly { readonly pid: number; readonly address: string }[]
}

/** A member of a running cluster. */
export interface MemberDescription {
  readonly pid: number
  /** Where other members reach it: host:port. */
  readonly grpc: string
  /** The URL of its front door. */
  readonly http: string
  /** Id of the member, new at each start. */
  readonly session: string
}

const fileIn = (directory: string) => join(directory, 'cluster.json')

/** For several regions: the cluster of each, by name. */
export interface RegionsDescription {
  readonly regions: Readonly<Record<string, ClusterDescription>>
}

/** Describes the regions as they were at their start; each region's own file is kept up to date. */
export function writeRegions(directory: string, regions: RegionsDescription['regions']): void {
  write(directory, { regions })
}

/** Replaces the file atomically. */
export function writeDescription(directory: string, description: ClusterDescription): void {
  write(directory, description)
}

/** The folders of its regions; the folder itself if it has none. */
export function clustersIn(directory: string): readonly string[] {
  const { regions } = read(directory) as Partial<RegionsDescription>
  return regions === undefined
    ? [directory]
    : Object.keys(regions).map((region) => join(directory, region))
}

function write(directory: string, description: ClusterDescription | RegionsDescription): void {
  const fresh = `${fileIn(directory)}.new`
  writeFileSync(fresh, `${JSON.stringify(description, null, 2)}\n`)
  renameSync(fresh, fileIn(directory))
}

/** Reads the file. Throws an Error with a message if there is none. */
export function readDescription(directory: string): ClusterDescription {
  return read(directory) as ClusterDescription
}

function read(directory: string): unknown {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8'))
  } catch (error) {
    throw new Error(`No cluster runs on ${directory} (it has no readable cluster.json): start ` +
      'one with npm run cluster, or name its directory with --data.', { cause: error })
  }
}

/** Removes the file. Call when the cluster has ended. */
export function removeDescription(directory: string): void {
  rmSync(fileIn(directory), { force: true })
}
