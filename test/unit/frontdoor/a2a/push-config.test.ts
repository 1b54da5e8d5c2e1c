/** Push notification configs of both versions: what is taken, what is refused, what is shown. */

import { describe, expect, it } from 'vitest'

import { configIn, configJson, listedIn, namedIn,
  setIn } from '../../../../src/frontdoor/a2a/push-config.ts'

const url = 'https://example.org/hook'

describe('a push notification config', () => {
  it('is the same in both versions', () => {
    const authentication = { scheme: 'Bearer', credentials: 'sec' }
    const fresh = setIn({ taskId: 't', id: 'a', url, token: 'tok', authentication, tenant: '' },
      '1.0')
    const old = setIn({ taskId: 't',
      pushNotificationConfig: { id: 'a', url, token: 'tok',
        authentication: { schemes: ['Bearer', 'Basic'], credentials: 'sec' } } }, '0.3')
    expect(fresh).toEqual({ taskId: 't',
      config: { id: 'a', url, token: 'tok', scheme: 'Bearer', credentials: 'sec',
        dialect: '1.0' } })
    expect(old).toEqual({ ...fresh, config: { ...fresh.config, dialect: '0.3' } })
    expect(configIn({ url }, '1.0')).toEqual({ id: '', url, token: '', scheme: '', credentials: '',
      dialect: '1.0' })
  })

  it('is refused if it cannot be sent as it says', () => {
    const refused = (config: object) => {
      expect(() => configIn({ url, ...config }, '1.0')).toThrow()
    }
    refused({ url: '' })
    refused({ url: 'x'.repeat(3_000) })
    refused({ id: 'x'.repeat(101) })
    refused({ token: 'a\r\nx-evil: 1' })
    refused({ token: 'ü' })
    refused({ authentication: { scheme: 'Bea rer', credentials: 'x' } })
    refused({ authentication: { scheme: 'Bearer' } })
    refused({ authentication: { credentials: 'x' } })
    refused({ authentication: { scheme: 'Bearer', credentials: 'a\nb' } })
    expect(() => configIn({ url, authentication: { schemes: ['Bearer'] } }, '0.3')).toThrow()
    expect(() => setIn({ pushNotificationConfig: { url } }, '0.3')).toThrow()
  })

  it('is shown without its token and its credentials', () => {
    const config = {
      ...configIn({ url, id: 'a', token: 'tok',
        authentication: { scheme: 'Bearer', credentials: 'sec' } }, '1.0'),
      taskId: 't',
    }
    expect(configJson(config, '1.0')).toEqual({ taskId: 't', id: 'a', url,
      authentication: { scheme: 'Bearer' } })
    expect(configJson(config, '0.3')).toEqual({ taskId: 't',
      pushNotificationConfig: { id: 'a', url, authentication: { schemes: ['Bearer'] } } })
  })

  it('is named in the way of each version', () => {
    expect(namedIn({ taskId: 't', id: 'a' }, '1.0', 'get')).toMatchObject({ taskId: 't', id: 'a' })
    expect(namedIn({ id: 't', pushNotificationConfigId: 'a' }, '0.3', 'delete'))
      .toEqual({ taskId: 't', id: 'a' })
    expect(namedIn({ id: 't' }, '0.3', 'get')).toEqual({ taskId: 't', id: undefined })
    expect(() => namedIn({ id: 't' }, '0.3', 'delete')).toThrow()
    expect([listedIn({ taskId: 't' }, '1.0'), listedIn({ id: 't' }, '0.3')]).toEqual(['t', 't'])
  })
})
