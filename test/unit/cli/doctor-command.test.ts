/** The command "doctor", with faults that were planted on a real machine. */

import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import type { Finding } from '../../../src/server/doctor/checks.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import { heddle } from '../../support/command.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-doctor-'))
afterAll(() => rmSync(root, { recursive: true }))

const data = join(root, 'data')
beforeAll(async () => {
  await (await openEmbeddedStore({ directory: data, env: systemEnv({ level: 'silent' }) })).close()
  // The first call loads the command.
  await heddle('doctor', '--help')
})

const consult = async (...args: readonly string[]) => {
  const { status, stdout } = await heddle('doctor', '--json', '--data', data, ...args)
  const findings = JSON.parse(stdout) as readonly Finding[]
  const verdictOf = (name: string) => findings.find(({ check }) => check === name)?.verdict
  return { status, verdictOf }
}

it('The command "doctor" finds a fresh data directory in order, and leaves it alone.', async () => {
  const before = readdirSync(data)
  const { status, verdictOf } = await consult()
  expect([status, verdictOf('store'), verdictOf('schema'), verdictOf('backup'),
    verdictOf('private files')]).toEqual([0, 'ok', 'ok', 'warn', 'ok'])
  expect((await heddle('backup', join(root, 'a.db'), '--data', data)).status).toBe(0)
  const key = join(data, 'secrets.key')
  writeFileSync(key, Buffer.alloc(32))
  chmodSync(key, 0o644)
  const plain = await heddle('doctor', '--data', data)
  expect(plain.stdout).toMatch(
    /^ok {4}node {12}Node 2\d[^]*\nwarn {2}private files [^]*\nok {4}backup /,
  )
  rmSync(key)
  expect(readdirSync(data).filter((name) => name.includes('doctor'))).toEqual([])
  expect(readdirSync(data)).toEqual(expect.arrayContaining(before))
})

it('The command "doctor --deep" compares the last backup with its manifest.', async () => {
  const file = join(root, 'last.db')
  expect((await heddle('backup', file, '--data', data)).status).toBe(0)
  expect((await consult('--deep')).verdictOf('backup')).toBe('ok')
  writeFileSync(`${file}.traces`, 'of another backup')
  expect((await consult()).verdictOf('backup')).toBe('ok')
  expect((await consult('--deep')).verdictOf('backup')).toBe('bad')
  // A backup that was moved elsewhere is not missed.
  rmSync(file)
  expect((await consult('--deep')).verdictOf('backup')).toBe('ok')
})

it('The command "upgrade check" says what a start would do to the tables.', async () => {
  const { status, stdout } = await heddle('upgrade', 'check', '--json', '--data', data)
  expect([status, JSON.parse(stdout)]).toEqual([0, expect.arrayContaining([
    expect.objectContaining({ check: 'versions', verdict: 'ok' }),
    expect.objectContaining({ check: 'way back', verdict: 'ok' }),
    expect.objectContaining({ check: 'disk space' }),
  ])])
  expect((await heddle('upgrade', 'check', '--data', join(root, 'none'))).status).toBe(3)
})

it('The command "upgrade finish" is for clusters.', async () => {
  const { status, stderr } = await heddle('upgrade', 'finish', '--data', data)
  expect([status, stderr]).toEqual([3, expect.stringContaining('nothing to finish')])
})

it('The command "doctor" finds planted faults and ends with exit code 1.', async () => {
  const certificate = join(root, 'cert.pem')
  writeFileSync(certificate, 'no certificate')
  const open = await consult('--host', '0.0.0.0', '--insecure-listen')
  expect([open.status, open.verdictOf('keys'), open.verdictOf('proxies')])
    .toEqual([1, 'bad', 'warn'])
  const away = await consult('--store', 'cassandra', '--local-datacenter', 'us', '--contact-points',
    '127.0.0.1:1', '--tls-ca', certificate)
  expect([away.status, away.verdictOf('store'), away.verdictOf('certificates')])
    .toEqual([1, 'bad', 'bad'])
  const database = new DatabaseSync(join(data, 'heddle.db'))
  database.exec('PRAGMA user_version = 999')
  database.close()
  const newer = await consult()
  expect([newer.status, newer.verdictOf('schema')]).toEqual([1, 'bad'])
  expect((await heddle('doctor', '--no-such')).status).toBe(2)
})
