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

/** Whoever reads it meanwhile sees the one before or this one, whole. */
export function writeDescription(directory: string, description: ClusterDescription): void {
  const fresh = `${fileIn(directory)}.new`
  writeFileSync(fresh, `${JSON.stringify(description, null, 2)}\n`)
  renameSync(fresh, fileIn(directory))
}

/** Throws an Error with a sentence where there is none. */
export function readDescription(directory: string): ClusterDescription {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8')) as ClusterDescription
  } catch (error) {
    throw new Error(`No cluster runs on ${directory} (it has no readable cluster.json): start ` +
      'one by npm run cluster, or name its directory by --data.', { cause: error })
  }
}

/** When the cluster has ended. */
export function removeDescription(directory: string): void {
  rmSync(fileIn(directory), { force: true })
}
