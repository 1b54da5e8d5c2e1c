/** The command line before anything is served: help, and one sentence for each mistake. */

import { describe, expect, it } from 'vitest'

import { knownSettings } from '../../../src/settings/known-settings.ts'
import { heddle, heddleIn } from '../../support/command.ts'

describe('the command', () => {
  it('lists the commands on one screen, and what they are for', async () => {
    const { status, stdout } = await heddle('--help')
    expect(status).toBe(0)
    expect(stdout.match(/^\w+:$/gm)).toEqual(['Develop:', 'Deploy:', 'Operate:'])
    expect(stdout.match(/(?<=^ {2})\w+/gm)).toEqual(['new', 'dev', 'build', 'deploy', 'rollback',
      'replay', 'revisions', 'deployments', 'logs', 'secrets', 'image', 'keys', 'members', 'doctor',
      'backup', 'restore', 'restored', 'upgrade', 'billing'])
    expect(stdout.split('\n').length).toBeLessThanOrEqual(30)
    expect(stdout).toContain('"heddle dev --help" lists all settings.')
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it.each<[Record<string, string>, string[]]>([[{}, ['dev']], [{ npm_lifecycle_event: 'start' },
    []]])(
      'explains every option to who starts a server: %j',
      async (environment, words) => {
        const { status, stdout } = await heddleIn(environment, ...words, '--help')
        expect(status).toBe(0)
        expect(stdout).toMatch(
          /--config <path>[^]*--port <number>[^]*env:\s+PORT\)[^]*--data <folder>/,
        )
        for (const { flags } of Object.values(knownSettings))
          expect(stdout).toContain(`  ${flags} `)
        expect(stdout.match(/^\w+:$/gm)).toEqual(['Options:', 'Serve:', 'Access:', 'Store:',
          'Cluster:', 'Limits:', 'Observability:'])
        expect(stdout).not.toContain('`')
        for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
      },
    )

  it('reads no number, word or switch from a variable by rules of its own', async () => {
    const { status, stderr } = await heddleIn({ HEDDLE_AUTH: 'all', HEDDLE_RELOAD: 'perhaps',
      HEDDLE_INSECURE_LISTEN: 'no' }, '--host', '0.0.0.0')
    expect([status, stderr.split('\n').toSorted()]).toEqual([2, ['',
      'heddle: --auth (or HEDDLE_AUTH) must be one of none, keys, not "all".',
      expect.stringMatching(/^heddle: --host 0\.0\.0\.0 is reached by others/),
      'heddle: --no-reload (or HEDDLE_RELOAD) must be yes or no, not "perhaps".']])
  })

  it.each([
    [['--prot', '3'], /^heddle: unknown option '--prot' \(Did you mean --port\?\); see --help\n$/],
    [['--port'], /^heddle: option '--port <number>' argument missing; see --help\n$/],
    [['../project', '3000'],
      /^heddle: "\.\.\/project" is no command: .*\(npm start -- --config <path>\); see --help\n$/],
    [['key', 'create'], /^heddle: "key" is no command: did you mean "keys"\? See --help\n$/],
    [['depoly'], /^heddle: "depoly" is no command: did you mean "deploy"\? See --help\n$/],
    [['Rolback'], /^heddle: "Rolback" is no command: did you mean "rollback"\? See --help\n$/],
    [['--port', 'x'], /^heddle: --port \(or PORT\) must be a whole number .*, not "x"\.\n$/],
    [['--host', '0.0.0.0'], /^heddle: --host 0\.0\.0\.0 is reached by others.*\n$/],
  ])('answers %j with one sentence and exit code 2', async (args, message) => {
    const { status, stdout, stderr } = await heddle(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })

  it('answers a project that does not exist with one sentence and exit code 1', async () => {
    const { status, stderr } = await heddle('--config', 'nowhere/langgraph.json')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^heddle: There is no project at .*nowhere\/langgraph\.json: .*\n$/)
  })
})
