/** By night, a region is made in a box, in the steps of its page, up to the first deploy. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

import { startBalancer } from '../../support/balancer.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import { heddleProcessIn } from '../../support/command.ts'
import { ask } from '../../support/wire.ts'
import { changeShop, makeShop } from '../deployments/shop.ts'

const cassandra = await cassandraForTests()
const keyspace = cassandra && newKeyspace(cassandra)
const page = readFileSync(resolve(import.meta.dirname, '../../../docs/operate/region.md'), 'utf8')

describe.skipIf(keyspace === undefined)('a new region', () => {
  const root = mkdtempSync(join(tmpdir(), 'heddle-region-'))
  afterAll(async () => {
    await dropKeyspace(keyspace!)
    rmSync(root, { recursive: true })
  })

  it('is made in the steps of its page', async () => {
    const steps: string[] = []
    const step = (title: string) => {
      expect(page.split('\n').filter((line) => /^\d+\. /.test(line))[steps.length])
        .toContain(title)
      steps.push(title)
    }
    step('Cassandra')
    const { contactPoints, dataCenter, keyspace: name } = keyspace!
    const store = ['--store', 'cassandra', '--contact-points', contactPoints.join(','),
      '--local-datacenter', dataCenter, '--keyspace', name]
    step('Keyspaces')
    step('Secrets')
    const [secretsKey, clusterSecret] = [join(root, 'secrets.key'), join(root, 'cluster-secret')]
    writeFileSync(secretsKey, randomBytes(32), { mode: 0o600 })
    writeFileSync(clusterSecret, randomBytes(32).toString('hex'), { mode: 0o600 })
    step('Members')
    step('Ways out')
    const args = ['--region', 'eu', '--auth', 'keys', '--secrets-key', secretsKey, '--workers', '1',
      '--egress-allow', '127.0.0.1', '--trusted-proxies', '127.0.0.1']
    const env = { HEDDLE_CLUSTER_SECRET_FILE: clusterSecret }
    const cluster = await startCluster({ members: 3, cassandra: keyspace!, project: 'conformance',
      env, args })
    step('Balancer')
    const balancer = await startBalancer(cluster.frontDoors)
    try {
      step('The first key')
      const made = await heddleProcessIn(env, 'keys', 'create', '--tenant', 'acme', '--role',
        'admin', '--region', 'eu', '--json', ...store)
      expect(made).toMatchObject({ status: 0 })
      const { key } = JSON.parse(made.stdout) as { key: string }
      const headers = { 'x-api-key': key }
      step('Limits')
      expect(await ask(balancer.url, 'GET', '/limits', undefined, headers))
        .toMatchObject({ status: 200 })
      step('Metrics and alerts')
      const { status, body } = await ask(balancer.url, 'GET', '/metrics', undefined, headers)
      expect([status, String(body).includes('heddle_')]).toEqual([200, true])
      step('doctor')
      const doctor = await heddleProcessIn(env, 'doctor', '--json', '--secrets-key', secretsKey,
        '--auth', 'keys', '--region', 'eu', '--data', join(root, 'data'), ...store)
      const findings = JSON.parse(doctor.stdout) as { check: string; verdict: string }[]
      expect(findings.filter(({ verdict }) => verdict === 'bad')).toEqual([])
      // It takes a server that runs as root: `deploy/users.night.ts` has one.
      step('Isolation')
      step('The first deploy')
      const shop = await makeShop(root)
      changeShop(shop, 'the first one')
      const deployed = await heddleProcessIn({ INIT_CWD: shop, npm_lifecycle_event: 'heddle',
        HEDDLE_URL: balancer.url, HEDDLE_API_KEY: key }, 'deploy', '--no-watch')
      expect(deployed).toMatchObject({ status: 0, stdout: expect.stringContaining('/d/shop') })
      // `restored.night.ts` restores one.
      step('The first backup')
      expect(page.match(/^\d+\. /gm)).toHaveLength(steps.length)
    } finally {
      balancer.close()
      await cluster.close()
    }
  }, 600_000)
})
