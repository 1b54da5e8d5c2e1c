/** Several regions on one machine: clusters with a Cassandra each, which share nothing else. */

import { join } from 'node:path'

import { placesOf, usualFirstAddress } from '../cassandra/layout.ts'
import { startBox } from './box.ts'
import type { Box } from './box.ts'
import { removeDescription, writeRegions } from './description.ts'
import type { StartRequest } from './options.ts'

/** The cluster of one region. */
export interface RegionBox {
  readonly request: StartRequest
  readonly box: Box
}

/**
 * Starts clusters one after another. Rejects with one sentence, and then leaves nothing running.
 */
export async function startRegions(request: StartRequest,
  log: (line: string) => void): Promise<readonly RegionBox[]> {
  const requests = requestsOf(request)
  const started: RegionBox[] = []
  try {
    for (const each of requests) {
      log(`Region ${each.region}:`)
      started.push({ request: each, box: await startBox(each, log) })
    }
  } catch (error) {
    await endRegions(request, started)
    throw error
  }
  writeRegions(request.data,
    Object.fromEntries(started.map(({ request: { region }, box }) => [region, box.description])))
  return started
}

/** Ends all clusters at once. */
export async function endRegions({ data }: StartRequest,
  started: readonly RegionBox[]): Promise<void> {
  removeDescription(data)
  await Promise.all(started.map(({ box }) => box.close()))
}

/** The requests of the regions, with distinct ports and addresses, and the URLs of all. */
export function requestsOf(request: StartRequest): readonly StartRequest[] {
  const { regions, port, members, cassandra, data, firstAddress = usualFirstAddress } = request
  const places = placesOf({ nodes: regions.length * cassandra, firstAddress })
  const urls = regions.map((region, index) =>
    `${region}=http://127.0.0.1:${port + index * members}`
  ).join(',')
  return regions.map((region, index) => ({
    ...request,
    region,
    regionUrls: urls,
    port: port + index * members,
    data: join(data, region),
    firstAddress: places[index * cassandra]!.address,
  }))
}
