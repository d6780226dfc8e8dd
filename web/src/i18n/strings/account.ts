import { defineText } from "../language";

export const accountText = defineText({
  en: {
    title: "Sign in",
    lead: "Sign in to use Chie. Your administrator can give you an access token.",
    token: "Token",
    tokenNote: "Stored in this browser until you sign out, out of reach of scripts.",
    signIn: "Sign in",
    signingIn: "Signing in…",
    account: (name: string) => `Signed in as ${name}`,
    admin: "Admin",
    signOut: "Sign out",
  },
  ja: {
    title: "サインイン",
    lead: "アクセストークンでサインインしてください。トークンは管理者に発行してもらえます。",
    token: "トークン",
    tokenNote: "サインアウトするまでこのブラウザーに保存されます（スクリプトからは読み取れません）。",
    signIn: "サインイン",
    signingIn: "サインイン中…",
    account: (name: string) => `${name} でサインイン中`,
    admin: "管理者",
    signOut: "サインアウト",
  },
});
