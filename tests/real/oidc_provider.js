// An OpenID provider for test_oauth.py: dynamic registration, PKCE, resource indicators, JWTs, refresh, revocation.
// Its own pages ask for a login and for consent. Usage: node oidc_provider.js PORT RESOURCE
import { Provider } from "oidc-provider";

const [port, resource] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  pkce: { required: () => true },
  scopes: ["openid", "offline_access", "vault"],
  clientDefaults: { token_endpoint_auth_method: "none" },
  ttl: { AccessToken: 2, RefreshToken: 3600, Interaction: 3600, Session: 3600, Grant: 3600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: "vault",
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 2,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
  issueRefreshToken: async () => true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
