/** The keys of a langgraph.json that are known. All others have no effect, which is said. */

import { isObject } from '../../json/index.ts'
import { asksForSomething, memberAt } from './config-members.ts'
import { routeGroups } from './route-groups.ts'

/** Those that a section may have: what is read here, and what means nothing here but is usual. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': ['graphs', 'env', 'webhooks', 'store', 'checkpointer', 'heddle', 'http', 'auth', 'ui',
    'ui_config', '$schema', 'name', 'description', 'version', 'dependencies', 'node_version',
    'python_version', 'pip_config_file', 'pip_installer', 'base_image', 'image_distro',
    'dockerfile_lines', 'docker_compose_file', 'internal_docker_tag', '_INTERNAL_docker_tag',
    'api_version', 'node_loader', 'keep_pkg_tools', 'source', 'build_command', 'install_command'],
  http: ['app', 'cors', 'mount_prefix', 'configurable_headers', 'logging_headers',
    'middleware_order', 'enable_custom_route_auth', 'disable_webhooks',
    ...routeGroups.map((group) => `disable_${group}`)],
  'http.cors': ['allow_origins', 'allow_origin_regex', 'allow_methods', 'allow_headers',
    'allow_credentials', 'expose_headers', 'max_age'],
  'http.configurable_headers': ['includes', 'excludes', 'include', 'exclude'],
  'http.logging_headers': ['includes', 'excludes', 'include', 'exclude'],
  ui_config: ['shared'],
  store: ['index', 'ttl', 'path', 'backend'],
  'store.index': ['embed', 'dims', 'fields'],
  'store.ttl': ['default_ttl', 'refresh_on_read', 'sweep_interval_minutes'],
  checkpointer: ['ttl', 'serde', 'path', 'backend'],
  'checkpointer.ttl': ['strategy', 'default_ttl', 'sweep_interval_minutes', 'sweep_limit'],
  heddle: ['url', 'deployment', 'check', 'effects', 'record', 'record_days', 'mask'],
}

/** A flag turns routes off, or a check on: one that is not understood must not be passed over. */
const guarding = /^(?:disable|enable)_/

/** Keys that were meant for `auth`: without it, every caller may do everything. */
const nearlyAuth = /^(?:auth.?|aut|ath|auht|authenticat(?:e|or|ion)|authori[sz]ation|custom_auth)$/i

/** Characters of a key that are shown. */
const shownMax = 100

/** Keys of which nothing is known, and that guard nothing, as `http.corss`. */
export function unknownKeys(config: unknown): readonly string[] {
  return unread(config).filter((path) => !isGuard(path))
}

/** Keys of which nothing is known, and that may guard something. */
export function unknownGuards(config: unknown): readonly string[] {
  return unread(config).filter(isGuard)
}

function isGuard(path: string): boolean {
  return path === 'encryption' || nearlyAuth.test(path) ||
    (path.startsWith('http.') && guarding.test(path.slice('http.'.length)))
}

function unread(config: unknown): readonly string[] {
  return Object.entries(known).flatMap(([section, names]) => {
    const found = section === '' ? config : memberAt(config, section)
    if (!isObject(found)) return []
    return Object.entries(found)
      .filter(([name, value]) => !names.includes(name) && asksForSomething(value))
      .map(([name]) => `${section === '' ? '' : `${section}.`}${name}`.slice(0, shownMax))
  })
}
