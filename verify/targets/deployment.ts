/** A deployment of the graph in two revisions. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { DeployTarget } from '../../test/e2e/deploy/deploy-target.ts'
import { deployedProject } from '../../test/e2e/deploy/deployed-project.ts'
import type { Deployment, Guarded } from './target.ts'

const name = 'verify'
const guardedName = 'guarded'
const maxTries = 5
const agentFolder = join(import.meta.dirname, '../agent')

export interface DeployOptions {
  readonly url: string
  readonly key: string
  readonly receiverUrl: string
}

/**
 * Deploys, and tries again if the server has closed a connection that was idle during a build. Each
 * request may be repeated: the same files make the same revision.
 */
async function retryDeploy<Result>(deploy: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
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
export async function deployAgent(options: DeployOptions): Promise<Deployment> {
  return await retryDeploy(() => deployRevisions(options))
}

async function deployRevisions({ url, key, receiverUrl }: DeployOptions): Promise<Deployment> {
  const agent = await readFile(join(agentFolder, 'agent.ts'), 'utf8')
  const project = await deployedProject({
    'langgraph.json': await readFile(join(agentFolder, 'langgraph.json'), 'utf8'),
  })
  try {
    const target = new DeployTarget(url, name, { 'x-api-key': key })
    await target.create({ limits: { workers: 1 } })
    await target.own('PUT', '/secrets', {
      values: { RECEIVER: receiverUrl, TOKEN: 'first-secret' },
    })
    const revisions = []
    for (const revision of ['r1', 'r2']) {
      const built = await project.built(
        agent.replaceAll("'act'", `'act-${revision}'`).replace(
          'revision: string | undefined = undefined',
          `revision: string | undefined = '${revision}'`,
        ),
      )
      const uploaded = await target.upload(built)
      revisions.push(uploaded.name)
      if (revision === 'r1') await target.activate(uploaded.name)
    }
    return { name, revisions }
  } finally {
    await project.remove()
  }
}

/** Deploys the graph with a login that names the user by a token, and stores owners in metadata. */
export async function deployGuarded(options: DeployOptions): Promise<Guarded> {
  return await retryDeploy(() => deployLogin(options))
}

async function deployLogin({ url, key, receiverUrl }: DeployOptions): Promise<Guarded> {
  const config = JSON.parse(await readFile(join(agentFolder, 'langgraph.json'), 'utf8')) as object
  const project = await deployedProject({
    'langgraph.json': JSON.stringify({ ...config, auth: { path: './auth.ts:auth' } }),
    'agent.ts': await readFile(join(agentFolder, 'agent.ts'), 'utf8'),
    'auth.ts': await readFile(join(agentFolder, 'auth.ts'), 'utf8'),
  }, { '@langchain/langgraph-sdk': '*' })
  try {
    const target = new DeployTarget(url, guardedName, { 'x-api-key': key })
    await target.create({ limits: { workers: 1 } })
    await target.own('PUT', '/secrets', { values: { RECEIVER: receiverUrl } })
    await target.deploy(await project.built())
    return { name: guardedName, users: { own: 'Bearer alice', foreign: 'Bearer mallory' } }
  } finally {
    await project.remove()
  }
}
