/** The variables of a build: none of the server but those by which packages are reached. Pure. */

import { dirname, isAbsolute, join } from 'node:path'

import { yarnSettingsName } from './installer-view.ts'

/** Variables by name. */
type Variables = Readonly<Record<string, string | undefined>>

/** Variables of the server that a build gets. None of them is a secret of ours. */
const passedOn = ['LANG', 'TZ', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy',
  'https_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

/** The variables of a build whose programs keep what they like in `home`. */
export function buildEnvironment(variables: Variables, home: string): Record<string, string> {
  const passed = Object.fromEntries(passedOn.map((name) => [name, variables[name]]))
  const all: Variables = { ...passed, HOME: home, TMPDIR: home, CI: '1', GIT_TERMINAL_PROMPT: '0',
    PATH: pathOf(variables), ...registryIn(variables), ...ofNpm(home), ...ofYarn(variables, home),
    ...ofCorepack(variables) }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const]
    ),
  )
}

/** PATH without relative folders, which would lead into the folder of a project. */
function pathOf({ PATH = '' }: Variables): string {
  return [dirname(process.execPath), ...PATH.split(':').filter((folder) => isAbsolute(folder))]
    .join(':')
}

/** Addresses of the registry, under the name that each package manager has for it. */
function registryIn(variables: Variables): Variables {
  const registry = variables['npm_config_registry'] ?? variables['NPM_CONFIG_REGISTRY']
  if (registry === undefined) return {}
  const host = URL.parse(registry)
  return { npm_config_registry: registry, pnpm_config_registry: registry,
    YARN_NPM_REGISTRY_SERVER: registry,
    ...host?.protocol === 'http:' && { YARN_UNSAFE_HTTP_WHITELIST: host.hostname } }
}

/** Variables for npm, without the settings of the machine, which have logins for its own use. */
function ofNpm(home: string): Variables {
  return { npm_config_update_notifier: 'false', npm_config_fetch_timeout: '60000',
    npm_config_fetch_retries: '1', npm_config_globalconfig: join(home, 'npmrc') }
}

/**
 * Variables for yarn 2 and later, which otherwise keep files in the project, where they would be
 * packed.
 */
function ofYarn({ HTTP_PROXY, HTTPS_PROXY, http_proxy: http, https_proxy: https }: Variables,
  home: string): Variables {
  return { PREFIX: home, YARN_IGNORE_PATH: '1', YARN_RC_FILENAME: yarnSettingsName,
    YARN_ENABLE_TELEMETRY: '0', YARN_ENABLE_GLOBAL_CACHE: '1',
    YARN_INSTALL_STATE_PATH: join(home, 'install-state.gz'), YARN_HTTP_PROXY: HTTP_PROXY ?? http,
    YARN_HTTPS_PROXY: HTTPS_PROXY ?? https }
}

/**
 * Variables for corepack. It starts installed programs only, and downloads none that a project
 * names.
 */
function ofCorepack({ COREPACK_HOME, XDG_CACHE_HOME, HOME }: Variables): Variables {
  const cache = XDG_CACHE_HOME ?? (HOME && join(HOME, '.cache'))
  return { COREPACK_HOME: COREPACK_HOME ?? (cache && join(cache, 'node/corepack')),
    COREPACK_ENABLE_NETWORK: '0', COREPACK_ENABLE_PROJECT_SPEC: '0', COREPACK_ENV_FILE: '0',
    COREPACK_ENABLE_AUTO_PIN: '0', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' }
}
