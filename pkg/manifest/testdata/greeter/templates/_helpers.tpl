{{- define "greeter.labels" -}}
app.kubernetes.io/name: greeter
{{- end -}}
