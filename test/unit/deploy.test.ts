/** The files for operators: they agree with each other and with the program. */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'

import { knownSettings } from '../../src/known-settings.ts'

const deploy = resolve(import.meta.dirname, '../../deploy')
const compose = readFileSync(join(deploy, 'compose.yaml'), 'utf8')
const page = readFileSync(join(deploy, 'cassandra.md'), 'utf8')

/** Top-level parts of the compose file, by name, without their comments. */
const parts = new Map(compose.replaceAll(/^ *#.*\n/gm, '').split(/^(?=\S)/m)
  .map((part) => [/^[\w-]+/.exec(part)?.[0], part]))

/** The services, by name. */
const services = new Map(parts.get('services')!.split(/^(?= {2}\S)/m).slice(1)
  .map((service) => [service.trim().split(':')[0]!, service]))

const flagsIn = (text: string) => [...text.matchAll(/(?<= )--[a-z-]+/g)].map(([flag]) => flag)

describe('the compose file', () => {
  it('has one node, three by profile, and Heddle', () => {
    const profiles = [...services].map(([name, text]) =>
      [name, /profiles: \[(\w+)\]/.exec(text)?.[1]])
    expect(profiles).toEqual([['cassandra-1', undefined], ['cassandra-2', 'three'],
      ['cassandra-3', 'three'], ['heddle', undefined]])
  })

  it('waits for services, and keeps data on volumes, that it has', () => {
    for (const text of services.values()) {
      const needed = [...text.matchAll(/^ {6}([\w-]+): \{ condition: service_healthy/gm)]
        .map(([, name]) => name!)
      expect([...services.keys()]).toEqual(expect.arrayContaining(needed))
      const volume = /volumes: \[([\w-]+):/.exec(text)?.[1]
      if (volume) expect(parts.get('volumes')).toContain(`  ${volume}:\n`)
    }
  })

  it('sets what the page for operators asks for', () => {
    const set = [...compose.matchAll(/-Dcassandra\.settings\.(\w+)=(\w+)/g)]
      .map(([, name, value]) => `${name}: ${value}`)
    // The period of the default configuration contradicts the group, so it has to go.
    expect(set).toContain('commitlog_sync_period: 0ms')
    for (const setting of set.filter((name) => name !== 'commitlog_sync_period: 0ms')) {
      expect(page).toContain(`\`${setting}\``)
    }
  })

  it('is reached from this machine only', () => {
    expect(compose).toContain("ports: ['127.0.0.1:2024:2024']")
    expect(compose.match(/ports:/g)).toHaveLength(1)
  })
})

it('starts Heddle with settings that it knows', () => {
  const known = Object.values(knownSettings).map(({ flags }) => flags.split(' ')[0])
  const shown = /npm start -- (.*)/.exec(page)![0]
  expect(known).toEqual(expect.arrayContaining(
    [...flagsIn(services.get('heddle')!), ...flagsIn(shown)]))
})
