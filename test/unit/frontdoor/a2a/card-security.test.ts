/** Credentials on agent cards: those that a login documents, in the words of each version. */

import { describe, expect, it } from 'vitest'

import { agentCard, cardOf, cardOfBoth } from '../../../../src/frontdoor/a2a/agent-card.ts'
import type { CardPlace } from '../../../../src/frontdoor/a2a/agent-card.ts'
import { loginSecurityOf } from '../../../../src/graph/app/login-security.ts'

const row = { name: 'a', graphId: 'a', descriptionJson: '', metadataJson: '', version: 1 }
const card = (auth: CardPlace['auth']) =>
  agentCard(row, { url: 'https://a.test/a2a/a', auth, pushNotifications: true })

const openapi = {
  securitySchemes: {
    own: { type: 'apiKey', in: 'header', name: 'x-own' },
    tokens: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  },
  security: [{ own: [] }, { tokens: ['read'] }],
}

describe('an agent card', () => {
  it('names what the login of its project documents', () => {
    const security = loginSecurityOf(openapi)!
    const fresh = card(security)
    expect(fresh).toMatchObject({
      capabilities: { extendedAgentCard: true },
      securitySchemes: {
        own: { apiKeySecurityScheme: { location: 'header', name: 'x-own' } },
        tokens: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
      },
      securityRequirements: [{ schemes: { own: {} } }, { schemes: { tokens: { list: ['read'] } } }],
    })
    expect(cardOf(fresh, '0.3', security)).toMatchObject(openapi)
    expect(cardOfBoth(fresh, security)).toMatchObject({ ...openapi,
      securitySchemes: fresh['securitySchemes'] })
  })

  it('names no credentials if nobody needs any, or if the login documents none', () => {
    expect(card('open')).toMatchObject({ capabilities: { extendedAgentCard: false } })
    expect(card('undocumented')).toMatchObject({ capabilities: { extendedAgentCard: true } })
    for (const auth of ['open', 'undocumented'] as const) {
      expect(card(auth)).not.toHaveProperty('securitySchemes')
    }
  })
})

describe('what a login documents', () => {
  it('is left out if it has no form, or is too long', () => {
    for (const odd of [undefined, 'x', {}, { securitySchemes: [] }, {
      securitySchemes: { a: { type: 'odd' } },
    }, { securitySchemes: { a: { type: 'http', description: 'x'.repeat(20_000) } } }]) {
      expect(loginSecurityOf(odd)).toBeUndefined()
    }
  })

  it('needs any of its schemes if it names none that exists', () => {
    const { securitySchemes } = openapi
    expect(loginSecurityOf({ components: { securitySchemes }, security: [{ gone: [] }] }))
      .toEqual({ securitySchemes, security: [{ own: [] }, { tokens: [] }] })
  })
})
