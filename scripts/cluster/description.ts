/** The file cluster.json: what a running cluster consists of, for whoever wants to reach it. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ClusterDescription {
  /** The URLs of members that serve. */
  readonly frontDoors: readonly string[]
  readonly members: readonly MemberDescription[]
  readonly cassandra: readonly { readonly pid: number; readonly address: string }[]
}

export interface MemberDescription {
  readonly pid: number
  /** Where other members reach it: host:port. */
  readonly grpc: string
  /** The URL of its front door. */
  readonly http: string
  /** The id of this life of the member. */
  readonly session: string
}

const fileIn = (directory: string) => join(directory, 'cluster.json')

/** Of several regions: the cluster of each, by its name. */
export interface RegionsDescription {
  readonly regions: Readonly<Record<string, ClusterDescription>>
}

/** As they were when they had started; each region's own file says what is so now. */
export function writeRegions(directory: string, regions: RegionsDescription['regions']): void {
  write(directory, { regions })
}

/** Whoever reads it meanwhile sees the one before or this one, whole. */
export function writeDescription(directory: string, description: ClusterDescription): void {
  write(directory, description)
}

/** The names of its regions, and the folder of each; itself alone where there are none. */
export function clustersIn(directory: string): readonly string[] {
  const { regions } = read(directory) as Partial<RegionsDescription>
  return regions === undefined ? [directory]
    : Object.keys(regions).map((region) => join(directory, region))
}

function write(directory: string, description: ClusterDescription | RegionsDescription): void {
  const fresh = `${fileIn(directory)}.new`
  writeFileSync(fresh, `${JSON.stringify(description, null, 2)}\n`)
  renameSync(fresh, fileIn(directory))
}

/** Throws an Error with a sentence where there is none. */
export function readDescription(directory: string): ClusterDescription {
  return read(directory) as ClusterDescription
}

function read(directory: string): unknown {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8'))
  } catch (error) {
    throw new Error(`No cluster runs on ${directory} (it has no readable cluster.json): start ` +
      'one by npm run cluster, or name its directory by --data.', { cause: error })
  }
}

/** When the cluster has ended. */
export function removeDescription(directory: string): void {
  rmSync(fileIn(directory), { force: true })
}
