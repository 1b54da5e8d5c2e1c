/** The command `npm run cluster`: runs members on Cassandra on this machine until it is stopped. */

import { basename, join, resolve } from 'node:path'

import { stopRequests } from '../cassandra/stopping.ts'
import { startBox } from './box.ts'
import type { Box } from './box.ts'
import { clustersIn, readDescription } from './description.ts'
import { help, requestFrom } from './options.ts'
import type { StartRequest } from './options.ts'
import { endRegions, startRegions } from './regions.ts'
import { askMembers, statusLines } from './status.ts'
import { tableLines } from './table.ts'

const interrupted = 130

try {
  await main()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

async function main(): Promise<void> {
  const request = requestFrom({
    args: process.argv.slice(2),
    // npm runs scripts in the folder of package.json, wherever it was called.
    folder: process.env.npm_lifecycle_event === 'cluster' && process.env.INIT_CWD || process.cwd(),
    starter: resolve(import.meta.dirname, '../../deploy/starter/langgraph.json'),
  })
  if (request.kind === 'help') return console.log(help)
  if (request.kind === 'start') {
    return await (request.regions.length > 0 ? serveRegions(request) : serve(request))
  }
  for (const directory of clustersIn(request.data)) {
    const description = readDescription(directory)
    if (directory !== request.data) console.log(`\nRegion ${basename(directory)}:\n`)
    console.log(statusLines(description, await askMembers(description)).join('\n'))
  }
}

async function serve(request: StartRequest): Promise<void> {
  const { first, second } = stopRequests('cluster')
  const log = (line: string) => console.error(line)
  // If it is stopped while the cluster still starts, all processes end with this one.
  const box = await Promise.race([first, startBox(request, log)])
  if (box === undefined) process.exit(0)
  announce(box, request)
  await first
  await Promise.race([box.close(), second.then(() => process.exit(interrupted))])
  process.exit(0)
}

async function serveRegions(request: StartRequest): Promise<void> {
  const { first, second } = stopRequests('cluster')
  const log = (line: string) => console.error(line)
  const started = await Promise.race([first, startRegions(request, log)])
  if (started === undefined) process.exit(0)
  for (const { box, request: each } of started) {
    console.log(`\n  Region ${each.region}. Its first API key:\n  npm run heddle -- keys create ` +
      `--tenant acme --region ${each.region} --store cassandra --contact-points ` +
      `${each.firstAddress} --local-datacenter ${each.region}`)
    announce(box, each)
  }
  await first
  await Promise.race([endRegions(request, started), second.then(() => process.exit(interrupted))])
  process.exit(0)
}

function announce({ description: { members, cassandra } }: Box, { data }: StartRequest): void {
  const rows = tableLines([
    ['', 'serves at', 'pid', 'gRPC', 'log'],
    ...members.map(({ http, pid, grpc },
      index) => [`member ${index + 1}`, http, `${pid}`, grpc,
      join(data, `member-${index + 1}/output.log`)]
    ),
    ...cassandra.map((
      { address, pid },
    ) => ['Cassandra', address, `${pid}`, '', join(data, `cassandra/node-${address}/system.log`)]),
  ])
  console.log(
    ['', ...rows, '',
      `  Every member serves every thread. All of this is in ${join(data, 'cluster.json')}.`,
      '  npm run cluster -- status    who owns what        Ctrl-C    ends all, in order', ''].join(
        '\n',
      ),
  )
}
