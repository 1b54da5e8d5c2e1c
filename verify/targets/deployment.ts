/** A deployment of the graph in two revisions. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { DeployTarget } from '../../test/e2e/deploy/deploy-target.ts'
import { deployedProject } from '../../test/e2e/deploy/deployed-project.ts'
import type { Built } from '../../test/e2e/deploy/deployed-project.ts'
import type { Deployment, Guarded } from './target.ts'

const name = 'verify'
const guardedName = 'guarded'
const maxTries = 5
const retryDelayMs = 200
const agentFolder = join(import.meta.dirname, '../agent')

export interface DeployOptions {
  readonly url: string
  readonly key: string
  readonly receiverUrl: string
}

/**
 * Sends the requests, and sends them again if a connection breaks: the same files make the same
 * revision. A build takes the processor for many seconds. The server closes idle connections then,
 * so no request is sent before this process has had time to notice that.
 */
async function sendRequests<Result>(deploy: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    await pause(retryDelayMs)
    try {
      return await deploy()
    } catch (error) {
      if (!(error instanceof TypeError) || tries === maxTries) throw error
    }
  }
}

/**
 * Deploys two revisions of the graph, and activates the first one. Each names itself in the log of
 * its threads, and its node `act` has a name of its own, so that an interrupted thread needs the
 * revision that asked.
 */
export async function deployAgent({ url, key, receiverUrl }: DeployOptions): Promise<Deployment> {
  const [first, second] = await buildRevisions(receiverUrl)
  const target = new DeployTarget(url, name, { 'x-api-key': key })
  return await sendRequests(async () => {
    await target.create({ limits: { workers: 1 }, record: 'all' })
    await target.own('PUT', '/secrets', {
      values: { TOKEN: 'first-secret' },
    })
    const active = await target.deploy(first)
    const { name: other } = await target.upload(second)
    return { name, revisions: [active, other] }
  })
}

async function buildRevisions(receiverUrl: string): Promise<readonly [Built, Built]> {
  // A replay has no secrets, so the address of the receiver is not one.
  const agent = (await readFile(join(agentFolder, 'agent.ts'), 'utf8'))
    .replace(`process.env['RECEIVER']`, `'${receiverUrl}'`)
  const project = await deployedProject({
    'langgraph.json': await readFile(join(agentFolder, 'langgraph.json'), 'utf8'),
  })
  const build = (revision: string) =>
    project.built(
      agent.replaceAll("'act'", `'act-${revision}'`).replace(
        'revision: string | undefined = undefined',
        `revision: string | undefined = '${revision}'`,
      ),
    )
  try {
    return [await build('r1'), await build('r2')]
  } finally {
    await project.remove()
  }
}

/** Deploys the graph with a login that names the user by a token, and stores owners in metadata. */
export async function deployGuarded({ url, key, receiverUrl }: DeployOptions): Promise<Guarded> {
  const built = await buildGuarded()
  const target = new DeployTarget(url, guardedName, { 'x-api-key': key })
  return await sendRequests(async () => {
    await target.create({ limits: { workers: 1 } })
    await target.own('PUT', '/secrets', { values: { RECEIVER: receiverUrl } })
    await target.deploy(built)
    return { name: guardedName, users: { own: 'Bearer alice', foreign: 'Bearer mallory' } }
  })
}

async function buildGuarded(): Promise<Built> {
  const config = JSON.parse(await readFile(join(agentFolder, 'langgraph.json'), 'utf8')) as object
  const project = await deployedProject({
    'langgraph.json': JSON.stringify({ ...config, auth: { path: './auth.ts:auth' } }),
    'agent.ts': await readFile(join(agentFolder, 'agent.ts'), 'utf8'),
    'auth.ts': await readFile(join(agentFolder, 'auth.ts'), 'utf8'),
  }, { '@langchain/langgraph-sdk': '*' })
  try {
    return await project.built()
  } finally {
    await project.remove()
  }
}
